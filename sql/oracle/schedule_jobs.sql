-- Title: jobs of the scheduler that run plans of dbatk
-- Needs: nothing: the user's own jobs
-- License: none
-- Effect: reads only
-- Params: none
-- Versions: 11.2 to 26ai
SELECT j.job_name AS job_name,
       j.comments AS comments,
       j.repeat_interval AS repeat_interval,
       j.enabled AS enabled,
       j.state AS state,
       CAST(SYS_EXTRACT_UTC(j.next_run_date) AS TIMESTAMP) AS next_utc
  FROM user_scheduler_jobs j
 WHERE j.comments LIKE 'dbatk schedule %';
