-- Invalid trials, by testbed
SELECT
    testbed, count(*) AS trials,
    count(*) FILTER (NOT valid) AS no_result,
    100 * avg(CASE WHEN valid THEN 0 ELSE 1 END) AS percent,
    -- Figures differ from trial to trial: a reason is what stands before them.
    mode(rtrim(regexp_extract(invalid, '^[^0-9]*'), ': ')) FILTER (NOT valid) AS usual_reason
FROM trials
GROUP BY testbed
ORDER BY percent DESC, testbed
