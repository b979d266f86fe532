-- Cycles a packet by node, between two versions
-- $old: version, or commit; else the last but one that was measured
-- $new: version, or commit; else the last one
-- $scenario: this scenario alone
WITH measured AS (
    SELECT *, coalesce(nullif(commit, ''), version) AS which
    FROM trials
    WHERE valid AND cardinality(nodes) > 0 AND ($scenario IS NULL OR scenario = $scenario)
),
latest AS (
    SELECT which, row_number() OVER (ORDER BY max(started) DESC) AS place
    FROM measured GROUP BY which
),
pair AS (
    SELECT
        coalesce($old, (SELECT which FROM latest WHERE place = 2)) AS old,
        coalesce($new, (SELECT which FROM latest WHERE place = 1)) AS new
),
spent AS (
    SELECT
        scenario, device, used.key AS node,
        median(used.value) FILTER (old IN (version, commit)) AS old_cycles,
        median(used.value) FILTER (new IN (version, commit)) AS new_cycles
    FROM (
        SELECT scenario, device, version, commit, old, new, unnest(map_entries(nodes)) AS used
        FROM measured, pair
        WHERE old IN (version, commit) OR new IN (version, commit)
    )
    GROUP BY ALL
)
SELECT
    scenario, device, node, old_cycles, new_cycles,
    coalesce(new_cycles, 0) - coalesce(old_cycles, 0) AS change
FROM spent, pair
WHERE old IS NOT NULL
ORDER BY abs(change) DESC, scenario, device, node
