-- Title: A table like the published GTEST: an id of 32 characters, numbers, dates, text
-- Needs: none
-- License: none
-- Effect: creates the table gtest in a database of the demo's own
-- Params: :rows
-- Versions: DuckDB 2.0 and later
CREATE TABLE gtest AS
SELECT range                                                          AS id,
       md5(range::VARCHAR)::VARCHAR(32)                               AS idname,
       (hash(range) % 100000)::INTEGER                                AS customer,
       (hash(range + 1) % 1000000)::DECIMAL(12, 2) / 100              AS amount,
       DATE '2020-01-01' + (hash(range + 2) % 2000)::INTEGER          AS ordered_on,
       TIMESTAMP '2020-01-01' + INTERVAL 1 SECOND * (hash(range + 3) % 100000000)::BIGINT AS changed_at,
       ['new', 'paid', 'sent', 'returned'][(hash(range + 4) % 4)::INTEGER + 1]            AS state,
       'order ' || range || ' of customer ' || (hash(range) % 100000) AS note
  FROM range(:rows);
