-- Packets lost, by place
-- $scenario: this scenario alone
WITH lost AS (
    SELECT device, one.key AS place, sum(one.value) AS packets, count(*) AS trials
    FROM (
        SELECT device, unnest(map_entries(losses)) AS one
        FROM trials
        WHERE valid AND ($scenario IS NULL OR scenario = $scenario)
    )
    GROUP BY ALL
)
SELECT
    device, place, packets,
    100 * packets / sum(packets) OVER (PARTITION BY device) AS percent_of_lost, trials
FROM lost
ORDER BY device, packets DESC
