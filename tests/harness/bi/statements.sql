-- Queries of BI tools, in the form that each sends: Metabase by its PostgreSQL driver (JDBC), Superset by SQLAlchemy,
-- Grafana by the macros of its PostgreSQL data source, Power BI by Npgsql, Tableau by ODBC with cursors. The comment
-- before a statement is the tool and the purpose.

-- Metabase: rows of a table
SELECT "crm"."orders"."id" AS "id", "crm"."orders"."external_key" AS "external_key",
  "crm"."orders"."created_at" AS "created_at", "crm"."orders"."updated_at" AS "updated_at",
  "crm"."orders"."title" AS "title", "crm"."orders"."status" AS "status", "crm"."orders"."region" AS "region",
  "crm"."orders"."price" AS "price", "crm"."orders"."quantity" AS "quantity", "crm"."orders"."bought" AS "bought",
  "crm"."orders"."shipped" AS "shipped", "crm"."orders"."due" AS "due", "crm"."orders"."tags" AS "tags", "crm"."orders"."customer" AS "customer"
FROM "crm"."orders" LIMIT 2001;

-- Metabase: a record by its key
SELECT "crm"."orders"."id" AS "id", "crm"."orders"."external_key" AS "external_key", "crm"."orders"."title" AS "title",
  "crm"."orders"."price" AS "price", "crm"."orders"."customer" AS "customer"
FROM "crm"."orders" WHERE "crm"."orders"."external_key" = 'O-1204' LIMIT 2001;

-- Metabase: one year by month
SELECT CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date) AS "bought", COUNT(*) AS "count",
  SUM("crm"."orders"."price") AS "sum"
FROM "crm"."orders"
WHERE ("crm"."orders"."bought" >= date '2024-07-01') AND ("crm"."orders"."bought" < date '2025-07-01')
GROUP BY CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date)
ORDER BY CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date) ASC;

-- Metabase: the last thirty days
SELECT "crm"."orders"."due" AS "due", COUNT(*) AS "count" FROM "crm"."orders"
WHERE ("crm"."orders"."due" >= CAST((NOW() + (INTERVAL '-30 day')) AS date))
  AND ("crm"."orders"."due" < CAST(NOW() AS date))
GROUP BY "crm"."orders"."due" ORDER BY "crm"."orders"."due" ASC;

-- Metabase: cumulative sum by month
SELECT CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date) AS "bought",
  SUM(SUM("crm"."orders"."price")) OVER (ORDER BY CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date) ASC
    ROWS UNBOUNDED PRECEDING) AS "sum"
FROM "crm"."orders"
GROUP BY CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date)
ORDER BY CAST(DATE_TRUNC('month', "crm"."orders"."bought") AS date) ASC;

-- Metabase: case-insensitive substring
SELECT "crm"."orders"."id" AS "id", "crm"."orders"."title" AS "title", "crm"."orders"."price" AS "price"
FROM "crm"."orders" WHERE (LOWER("crm"."orders"."title") LIKE '%abc%') LIMIT 2001;

-- Metabase: one of two strings
SELECT "crm"."orders"."status" AS "status", COUNT(*) AS "count", AVG("crm"."orders"."price") AS "avg"
FROM "crm"."orders"
WHERE (("crm"."orders"."status" = 'open') OR ("crm"."orders"."status" = 'paid'))
  AND (("crm"."orders"."price" >= 250) AND ("crm"."orders"."price" <= 260))
GROUP BY "crm"."orders"."status" ORDER BY "count" DESC, "crm"."orders"."status" ASC;

-- Metabase: grouped by a field of a referenced record
SELECT "Customers"."city" AS "Customers__city", COUNT(*) AS "count", SUM("crm"."orders"."price") AS "sum"
FROM "crm"."orders"
LEFT JOIN "crm"."customers" AS "Customers" ON "crm"."orders"."customer" = "Customers"."id"
WHERE "crm"."orders"."price" > 990
GROUP BY "Customers"."city" ORDER BY "count" DESC, "Customers"."city" ASC;

-- Metabase: distinct values of a reference
SELECT COUNT(DISTINCT "crm"."orders"."customer") AS "count" FROM "crm"."orders"
WHERE "crm"."orders"."bought" >= date '2025-10-01';

-- Metabase: values for a filter
SELECT "crm"."customers"."city" AS "city" FROM "crm"."customers"
GROUP BY "crm"."customers"."city" ORDER BY "crm"."customers"."city" ASC LIMIT 1000;

-- Metabase: a count
SELECT COUNT(*) AS "count" FROM "crm"."orders";

-- Metabase: a record joined with its customer by number
SELECT "crm"."orders"."id" AS "id", "crm"."orders"."external_key" AS "external_key",
  "Customers - Account"."name" AS "Customers - Account__name"
FROM "crm"."orders"
LEFT JOIN "crm"."customers" AS "Customers - Account" ON "crm"."orders"."account" = "Customers - Account"."account"
WHERE "crm"."orders"."external_key" = 'O-1204' LIMIT 2001;

-- Metabase: orders by a substring of the customer's name
SELECT "crm"."orders"."external_key" AS "external_key", "crm"."orders"."price" AS "price",
  "Customers"."name" AS "Customers__name"
FROM "crm"."orders"
LEFT JOIN "crm"."customers" AS "Customers" ON "crm"."orders"."customer" = "Customers"."id"
WHERE ("Customers"."name" ILIKE '%abc%') LIMIT 2001;

-- Metabase: native query with a date range
SELECT status, count(*) AS orders FROM "crm"."orders"
WHERE shipped >= date '2025-03-01' AND shipped < date '2025-03-08'
GROUP BY status ORDER BY status;

-- Superset: chart of the last thirty days, from a SQL dataset
SELECT due AS due, sum(price) AS "SUM(price)"
FROM (select due, price from crm.orders where due >= now() - interval '30 days') AS virtual_table
GROUP BY due ORDER BY "SUM(price)" DESC
 LIMIT 1000;

-- Superset: minimum and maximum of a date
SELECT min(bought) AS "MIN(bought)", max(bought) AS "MAX(bought)"
FROM crm.orders
 LIMIT 1000;

-- Superset: one month by day
SELECT DATE_TRUNC('day', bought) AS bought, sum(price) AS "SUM(price)"
FROM crm.orders
WHERE bought >= TO_DATE('2025-03-01', 'YYYY-MM-DD') AND bought < TO_DATE('2025-04-01', 'YYYY-MM-DD')
GROUP BY DATE_TRUNC('day', bought) ORDER BY "SUM(price)" DESC
 LIMIT 10000;

-- Superset: two days by hour
SELECT DATE_TRUNC('hour', shipped) AS shipped, count(*) AS count
FROM crm.orders
WHERE shipped >= TO_TIMESTAMP('2025-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND shipped < TO_TIMESTAMP('2025-03-03 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY DATE_TRUNC('hour', shipped) ORDER BY count DESC
 LIMIT 10000;

-- Superset: the largest series by week
SELECT DATE_TRUNC('week', bought) AS bought, status AS status, sum(price) AS "SUM(price)"
FROM crm.orders JOIN (SELECT status AS status__, sum(price) AS mme_inner__
FROM crm.orders
WHERE price >= 900 GROUP BY status ORDER BY mme_inner__ DESC
 LIMIT 3) AS series_limit ON status = status__
WHERE price >= 900 GROUP BY DATE_TRUNC('week', bought), status ORDER BY "SUM(price)" DESC
 LIMIT 10000;

-- Superset: records with a substring
SELECT external_key AS external_key, title AS title, price AS price, bought AS bought
FROM crm.orders
WHERE title ILIKE '%abc%' ORDER BY price DESC, external_key ASC
 LIMIT 1000;

-- Superset: grouped, with a list of values
SELECT status AS status, region AS region, count(*) AS count, sum(quantity) AS "SUM(quantity)"
FROM crm.orders
WHERE status IN ('open', 'lost') AND quantity > 3 GROUP BY status, region ORDER BY count DESC
 LIMIT 100;

-- Superset: the three largest orders of each customer
SELECT customer AS customer, price AS price
FROM (select customer, price, row_number() over (partition by customer order by price desc) as place
  from crm.orders where price > 950) AS virtual_table
WHERE place <= 3 LIMIT 50000;

-- Superset: orders of customers in a city
SELECT external_key AS external_key, price AS price
FROM crm.orders
WHERE customer IN (SELECT id FROM crm.customers WHERE city = 'City 7') AND price > 500
 LIMIT 50000;

-- Grafana: one week by hour
SELECT floor(extract(epoch from shipped)/3600)*3600 AS "time", avg(price) AS "price", count(*) AS "orders"
FROM crm.orders
WHERE shipped BETWEEN '2025-03-01T00:00:00Z' AND '2025-03-08T00:00:00Z'
GROUP BY 1 ORDER BY 1;

-- Grafana: the latest rows of a range
SELECT shipped AS "time", external_key, title, price FROM crm.orders
WHERE shipped BETWEEN '2025-01-01T00:00:00Z' AND '2025-06-30T00:00:00Z' AND price >= 900
ORDER BY shipped DESC, external_key LIMIT 50;

-- Grafana: values of a variable
SELECT DISTINCT status FROM crm.orders ORDER BY 1;

-- Grafana: tags from a variable
SELECT floor(extract(epoch from shipped)/86400)*86400 AS "time", count(*) AS "orders" FROM crm.orders
WHERE tags && ARRAY['t7','t8'] AND shipped BETWEEN '2025-03-01T00:00:00Z' AND '2025-04-01T00:00:00Z'
GROUP BY 1 ORDER BY 1;

-- Power BI: chart of a year
select "_"."status",
    "_"."a0",
    "_"."a1"
from
(
    select "rows"."status" as "status",
        sum("rows"."price") as "a0",
        count(distinct "rows"."customer") as "a1"
    from
    (
        select "_"."status",
            "_"."price",
            "_"."customer"
        from "crm"."orders" "_"
        where "_"."bought" < date '2026-01-01' and "_"."bought" >= date '2025-01-01'
    ) "rows"
    group by "status"
) "_"
where not "_"."a0" is null or not "_"."a1" is null
limit 1000001;

-- Power BI: names in lower case
select "_"."city_lower",
    "_"."a0"
from
(
    select "rows"."city_lower" as "city_lower",
        count("rows"."name") as "a0"
    from
    (
        select "_"."name" as "name",
            lower("_"."city") as "city_lower"
        from (select "_"."name", "_"."city" from (select "name", "city" from "crm"."customers" "$Table") "_"
            where "_"."city" in ('City 7', 'City 8', 'City 9', 'City 10')) "_"
    ) "rows"
    group by "city_lower"
) "_"
where not "_"."a0" is null
limit 1000001;

-- Power BI: relationship, filtered by city
select "_"."city",
    "_"."a0"
from
(
    select "rows"."city" as "city",
        sum("rows"."price") as "a0"
    from
    (
        select "$Outer"."price", "$Inner"."city"
        from "crm"."orders" "$Outer"
        left outer join "crm"."customers" "$Inner" on ("$Outer"."customer" = "$Inner"."id")
        where "$Inner"."city" = 'City 7'
    ) "rows"
    group by "city"
) "_"
where not "_"."a0" is null
limit 1000001;

-- Power BI: table sorted by price
select "_"."external_key",
    "_"."title",
    "_"."price"
from "crm"."orders" "_"
where "_"."price" < 500 and "_"."title" like '%ab%'
order by "_"."price" desc,
        "_"."external_key"
limit 501;

-- Tableau: groups by year, with a cursor
BEGIN;declare "SQL_CUR0x7f3a5c" cursor with hold for SELECT "orders"."status" AS "status",
  SUM("orders"."price") AS "sum:price:ok",
  DATE_TRUNC( 'YEAR', CAST("orders"."bought" AS DATE) ) AS "tyr:bought:ok"
FROM "crm"."orders" "orders"
GROUP BY 1,
  3;fetch 10000 in "SQL_CUR0x7f3a5c";
close "SQL_CUR0x7f3a5c";
COMMIT;

-- Tableau: rows, with a cursor
BEGIN;declare "SQL_CUR0x7f3a5d" cursor with hold for SELECT "orders"."external_key" AS "external_key",
  "orders"."price" AS "price",
  "orders"."bought" AS "bought"
FROM "crm"."orders" "orders"
WHERE (("orders"."price" >= 100.0) AND ("orders"."price" <= 110.0));fetch 10000 in "SQL_CUR0x7f3a5d";
close "SQL_CUR0x7f3a5d";
COMMIT;

-- Tableau: distinct values of a reference
SELECT COUNT(DISTINCT "orders"."customer") AS "ctd:customer:ok",
  SUM("orders"."price") AS "sum:price:ok"
FROM "crm"."orders" "orders"
WHERE (("orders"."bought" >= (DATE '2025-01-01')) AND ("orders"."bought" <= (DATE '2025-03-31')))
HAVING (COUNT(1) > 0);

-- Tableau: minimum and maximum for a filter
SELECT MAX("orders"."price") AS "TEMP(TC_)(max)",
  MIN("orders"."price") AS "TEMP(TC_)(min)"
FROM "crm"."orders" "orders"
HAVING (COUNT(1) > 0);

-- Tableau: the largest customers, with a temporary table
CREATE LOCAL TEMPORARY TABLE "#Tableau_1_Filter" ON COMMIT PRESERVE ROWS AS
SELECT "orders"."customer" AS "customer",
  SUM("orders"."price") AS "$__alias__0"
FROM "crm"."orders" "orders"
WHERE ("orders"."price" > 900)
GROUP BY 1
ORDER BY 2 DESC,
  1 ASC
LIMIT 20;
SELECT "customers"."name" AS "name",
  SUM("orders"."price") AS "sum:price:ok"
FROM "crm"."orders" "orders"
  INNER JOIN "#Tableau_1_Filter" "t0" ON ("orders"."customer" = "t0"."customer")
  INNER JOIN "crm"."customers" "customers" ON ("orders"."customer" = "customers"."id")
GROUP BY 1;
DROP TABLE "#Tableau_1_Filter";

-- Tableau: a time range
SELECT DATE_TRUNC( 'DAY', CAST("orders"."shipped" AS TIMESTAMP) ) AS "tdy:shipped:ok",
  SUM("orders"."price") AS "sum:price:ok"
FROM "crm"."orders" "orders"
WHERE (("orders"."shipped" >= (TIMESTAMP '2025-03-01 00:00:00.000'))
  AND ("orders"."shipped" <= (TIMESTAMP '2025-03-07 23:59:59.999')))
GROUP BY 1;

-- Tableau: a month
SELECT CAST(TRUNC(EXTRACT(DAY FROM "orders"."bought")) AS INTEGER) AS "dy:bought:ok",
  SUM("orders"."quantity") AS "sum:quantity:ok"
FROM "crm"."orders" "orders"
WHERE (DATE_TRUNC( 'MONTH', CAST("orders"."bought" AS DATE) ) = (DATE '2025-03-01'))
GROUP BY 1;
