-- Slowest scenarios of each device
SELECT
    device, scenario, loadtest AS test, frame_bytes AS bytes,
    median(line_percent) AS percent_of_line,
    median(received_pps) / 1e6 AS mpps,
    mode("limit") AS limited_by
FROM trials
WHERE valid
GROUP BY ALL
ORDER BY percent_of_line, device, scenario, test
LIMIT 20
