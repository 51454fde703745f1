--
-- PostgreSQL database dump
--


-- Dumped from database version 15.20 (Debian 15.20-0+deb12u1)
-- Dumped by pg_dump version 15.20 (Debian 15.20-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: crm; Type: SCHEMA; Schema: -; Owner: keyed_owner
--

CREATE SCHEMA crm;


ALTER SCHEMA crm OWNER TO keyed_owner;

--
-- Name: SCHEMA crm; Type: COMMENT; Schema: -; Owner: keyed_owner
--

COMMENT ON SCHEMA crm IS 'Customers';


--
-- Name: empty; Type: SCHEMA; Schema: -; Owner: keyed_owner
--

CREATE SCHEMA empty;


ALTER SCHEMA empty OWNER TO keyed_owner;

--
-- Name: SCHEMA empty; Type: COMMENT; Schema: -; Owner: keyed_owner
--

COMMENT ON SCHEMA empty IS 'Nothing in it';


--
-- Name: keyed; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA keyed;


ALTER SCHEMA keyed OWNER TO postgres;

--
-- Name: keyed; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS keyed WITH SCHEMA keyed;


--
-- Name: EXTENSION keyed; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION keyed IS 'Records under the caller''s own key: templates, upsert by external key, search and access rules';


--
-- Name: keyed_scope; Type: SCHEMA; Schema: -; Owner: keyed_owner
--

CREATE SCHEMA keyed_scope;


ALTER SCHEMA keyed_scope OWNER TO keyed_owner;

--
-- Name: SCHEMA keyed_scope; Type: COMMENT; Schema: -; Owner: keyed_owner
--

COMMENT ON SCHEMA keyed_scope IS 'What policies of keyed look up in other tables. Nobody needs to use it, and nobody may.';


--
-- Name: keyed_state; Type: SCHEMA; Schema: -; Owner: keyed_owner
--

CREATE SCHEMA keyed_state;


ALTER SCHEMA keyed_state OWNER TO keyed_owner;

--
-- Name: SCHEMA keyed_state; Type: COMMENT; Schema: -; Owner: keyed_owner
--

COMMENT ON SCHEMA keyed_state IS 'State of keyed: projects, templates, keys, history. Ordinary tables; read them freely, change them through the functions in schema keyed.';


--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


--
-- Name: vector; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;


--
-- Name: EXTENSION vector; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: companies; Type: TABLE; Schema: crm; Owner: keyed_owner
--

CREATE TABLE crm.companies (
    id uuid DEFAULT keyed.new_id(1) NOT NULL,
    external_key text COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    _released_key text COLLATE pg_catalog."C",
    name text NOT NULL
)
WITH (fillfactor='90');


ALTER TABLE crm.companies OWNER TO keyed_owner;

--
-- Name: TABLE companies; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON TABLE crm.companies IS 'companies';


--
-- Name: COLUMN companies.id; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies.id IS 'The record''s own id: a UUID, ordered by time, that carries the number of its template.';


--
-- Name: COLUMN companies.external_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies.external_key IS 'The id that another system uses for this record; unique among live records, 1 to 255 characters. Null while the record is deleted: see _released_key.';


--
-- Name: COLUMN companies.created_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies.created_at IS 'When the record was created.';


--
-- Name: COLUMN companies.updated_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies.updated_at IS 'When a value of the record last changed.';


--
-- Name: COLUMN companies.deleted_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies.deleted_at IS 'When the record was deleted; null while it is live.';


--
-- Name: COLUMN companies._released_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.companies._released_key IS 'Kept by keyed: the external key that a deleted record had; null while it is live. A restore takes it back.';


--
-- Name: grant_4_2_0(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_4_2_0() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.external_key = 'C-1'::text));
END;


ALTER FUNCTION keyed_scope.grant_4_2_0() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_4_2_0(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_4_2_0() IS 'Part of the policy keyed_read_4 on "crm"."customers".';


--
-- Name: grant_4_2_1(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_4_2_1() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.name = 'It''s \ nobody''s'::text));
END;


ALTER FUNCTION keyed_scope.grant_4_2_1() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_4_2_1(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_4_2_1() IS 'Part of the policy keyed_read_4 on "crm"."customers".';


--
-- Name: grant_5_2_0(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_5_2_0() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.external_key = 'C-1'::text));
END;


ALTER FUNCTION keyed_scope.grant_5_2_0() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_5_2_0(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_5_2_0() IS 'Part of the policy keyed_update_5 on "crm"."customers".';


--
-- Name: grant_5_2_1(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_5_2_1() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.name = 'It''s \ nobody''s'::text));
END;


ALTER FUNCTION keyed_scope.grant_5_2_1() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_5_2_1(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_5_2_1() IS 'Part of the policy keyed_update_5 on "crm"."customers".';


--
-- Name: grant_6_2_0(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_6_2_0() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.external_key = 'C-1'::text));
END;


ALTER FUNCTION keyed_scope.grant_6_2_0() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_6_2_0(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_6_2_0() IS 'Part of the policy keyed_delete_6 on "crm"."customers".';


--
-- Name: grant_6_2_1(); Type: FUNCTION; Schema: keyed_scope; Owner: keyed_owner
--

CREATE FUNCTION keyed_scope.grant_6_2_1() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT r1.id
    FROM crm.companies r1
   WHERE ((r1.deleted_at IS NULL) AND (r1.name = 'It''s \ nobody''s'::text));
END;


ALTER FUNCTION keyed_scope.grant_6_2_1() OWNER TO keyed_owner;

--
-- Name: FUNCTION grant_6_2_1(); Type: COMMENT; Schema: keyed_scope; Owner: keyed_owner
--

COMMENT ON FUNCTION keyed_scope.grant_6_2_1() IS 'Part of the policy keyed_delete_6 on "crm"."customers".';


--
-- Name: customers; Type: TABLE; Schema: crm; Owner: keyed_owner
--

CREATE TABLE crm.customers (
    id uuid DEFAULT keyed.new_id(2) NOT NULL,
    external_key text COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    _released_key text COLLATE pg_catalog."C",
    name text,
    visits numeric,
    mood double precision,
    tags text[],
    tier text[],
    born date,
    seen timestamp with time zone,
    company uuid,
    active boolean
)
WITH (fillfactor='90');


ALTER TABLE crm.customers OWNER TO keyed_owner;

--
-- Name: TABLE customers; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON TABLE crm.customers IS 'Our customers';


--
-- Name: COLUMN customers.id; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers.id IS 'The record''s own id: a UUID, ordered by time, that carries the number of its template.';


--
-- Name: COLUMN customers.external_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers.external_key IS 'The id that another system uses for this record; unique among live records, 1 to 255 characters. Null while the record is deleted: see _released_key.';


--
-- Name: COLUMN customers.created_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers.created_at IS 'When the record was created.';


--
-- Name: COLUMN customers.updated_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers.updated_at IS 'When a value of the record last changed.';


--
-- Name: COLUMN customers.deleted_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers.deleted_at IS 'When the record was deleted; null while it is live.';


--
-- Name: COLUMN customers._released_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.customers._released_key IS 'Kept by keyed: the external key that a deleted record had; null while it is live. A restore takes it back.';


--
-- Name: customers__golden; Type: VIEW; Schema: crm; Owner: keyed_owner
--

CREATE VIEW crm.customers__golden WITH (security_invoker='true') AS
 SELECT t.id,
    t.external_key,
    t.created_at,
    t.updated_at,
    t.name,
    t.visits,
    t.mood,
    t.tags,
    t.tier,
    t.born,
    t.seen,
    t.company,
    t.active
   FROM crm.customers t
  WHERE ((t.deleted_at IS NULL) AND ((t.tier && ARRAY['gold'::text]) AND (t.company IN ( SELECT r1.id
           FROM crm.companies r1
          WHERE ((r1.deleted_at IS NULL) AND (r1.name = 'ACME'::text))))))
  ORDER BY t.visits DESC NULLS LAST, t.id DESC;


ALTER TABLE crm.customers__golden OWNER TO keyed_owner;

--
-- Name: VIEW customers__golden; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON VIEW crm.customers__golden IS 'It''s gold';


--
-- Name: tree; Type: TABLE; Schema: crm; Owner: keyed_owner
--

CREATE TABLE crm.tree (
    id uuid DEFAULT keyed.new_id(3) NOT NULL,
    external_key text COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    _released_key text COLLATE pg_catalog."C",
    up uuid
)
WITH (fillfactor='90');


ALTER TABLE crm.tree OWNER TO keyed_owner;

--
-- Name: TABLE tree; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON TABLE crm.tree IS 'tree';


--
-- Name: COLUMN tree.id; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree.id IS 'The record''s own id: a UUID, ordered by time, that carries the number of its template.';


--
-- Name: COLUMN tree.external_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree.external_key IS 'The id that another system uses for this record; unique among live records, 1 to 255 characters. Null while the record is deleted: see _released_key.';


--
-- Name: COLUMN tree.created_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree.created_at IS 'When the record was created.';


--
-- Name: COLUMN tree.updated_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree.updated_at IS 'When a value of the record last changed.';


--
-- Name: COLUMN tree.deleted_at; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree.deleted_at IS 'When the record was deleted; null while it is live.';


--
-- Name: COLUMN tree._released_key; Type: COMMENT; Schema: crm; Owner: keyed_owner
--

COMMENT ON COLUMN crm.tree._released_key IS 'Kept by keyed: the external key that a deleted record had; null while it is live. A restore takes it back.';


--
-- Name: access_grant; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.access_grant (
    id integer NOT NULL,
    role regrole NOT NULL,
    project_id integer NOT NULL,
    template_id integer,
    privilege text NOT NULL,
    scope jsonb,
    granted_at timestamp with time zone DEFAULT now() NOT NULL,
    granted_by text NOT NULL,
    role_name text DEFAULT ''::text NOT NULL,
    bound_in text DEFAULT ''::text NOT NULL,
    CONSTRAINT access_grant_privilege_check CHECK ((privilege = ANY (ARRAY['read'::text, 'create'::text, 'update'::text, 'delete'::text, 'define'::text])))
);


ALTER TABLE keyed_state.access_grant OWNER TO keyed_owner;

--
-- Name: TABLE access_grant; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.access_grant IS 'What keyed.grant_access granted. Policies of PostgreSQL say the same.';


--
-- Name: COLUMN access_grant.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.id IS 'Part of the names of its policies.';


--
-- Name: COLUMN access_grant.role; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.role IS 'To whom: a role, and with it its members.';


--
-- Name: COLUMN access_grant.project_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.project_id IS 'On which project.';


--
-- Name: COLUMN access_grant.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.template_id IS 'On which template of it; null: on all, those to come included.';


--
-- Name: COLUMN access_grant.privilege; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.privilege IS 'read, create, update, delete (records) or define (templates).';


--
-- Name: COLUMN access_grant.scope; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.scope IS 'On which records: a filter; null: on all.';


--
-- Name: COLUMN access_grant.granted_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.granted_at IS 'When.';


--
-- Name: COLUMN access_grant.granted_by; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.granted_by IS 'The login that granted it.';


--
-- Name: COLUMN access_grant.role_name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.role_name IS 'What the role was called when that was last written down.';


--
-- Name: COLUMN access_grant.bound_in; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.access_grant.bound_in IS 'The cluster and the table in which role and role_name were written down together: keyed.binding(tableoid). After a restore elsewhere a row counts only where role and role_name still agree; where bound_in agrees, the role may have been renamed. See keyed.is_bound.';


--
-- Name: access_grant_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.access_grant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.access_grant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: api_key; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.api_key (
    id integer NOT NULL,
    role regrole NOT NULL,
    projects integer[],
    label text DEFAULT ''::text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    role_name text DEFAULT ''::text NOT NULL,
    bound_in text DEFAULT ''::text NOT NULL,
    CONSTRAINT api_key_hash_check CHECK ((octet_length(hash) = 32))
);


ALTER TABLE keyed_state.api_key OWNER TO keyed_owner;

--
-- Name: TABLE api_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.api_key IS 'API keys. Neither the key itself is here nor what the proxy presents for it.';


--
-- Name: COLUMN api_key.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.id IS 'The number that the key itself begins with.';


--
-- Name: COLUMN api_key.role; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.role IS 'The role that requests with the key act as.';


--
-- Name: COLUMN api_key.projects; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.projects IS 'The projects it is bound to; null: all.';


--
-- Name: COLUMN api_key.label; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.label IS 'What people call it; history names it.';


--
-- Name: COLUMN api_key.hash; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.hash IS 'SHA-256 of ''keyed.api_key:'' and what is presented, which is the SHA-256 of the whole key.';


--
-- Name: COLUMN api_key.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.created_at IS 'When it was issued.';


--
-- Name: COLUMN api_key.created_by; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.created_by IS 'The login that issued it.';


--
-- Name: COLUMN api_key.expires_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.expires_at IS 'From when on it is refused; null: never.';


--
-- Name: COLUMN api_key.revoked_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.revoked_at IS 'When it was revoked; null: it was not.';


--
-- Name: COLUMN api_key.role_name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.role_name IS 'What the role was called when that was last written down.';


--
-- Name: COLUMN api_key.bound_in; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key.bound_in IS 'The cluster and the table in which role and role_name were written down together: keyed.binding(tableoid). After a restore elsewhere a row counts only where role and role_name still agree; where bound_in agrees, the role may have been renamed. See keyed.is_bound.';


--
-- Name: api_key_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.api_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.api_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: api_key_use; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.api_key_use (
    key_id integer NOT NULL,
    last_used_at timestamp with time zone
)
WITH (fillfactor='50');


ALTER TABLE keyed_state.api_key_use OWNER TO keyed_owner;

--
-- Name: TABLE api_key_use; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.api_key_use IS 'When each API key was last used.';


--
-- Name: COLUMN api_key_use.key_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key_use.key_id IS 'The key.';


--
-- Name: COLUMN api_key_use.last_used_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.api_key_use.last_used_at IS 'To about a minute; null: never.';


--
-- Name: attribute; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.attribute (
    id integer NOT NULL,
    template_id integer NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    label text,
    required boolean DEFAULT false NOT NULL,
    indexed boolean DEFAULT false NOT NULL,
    options jsonb,
    target_id integer,
    default_value jsonb,
    "position" integer NOT NULL,
    CONSTRAINT attribute_slug_form CHECK ((slug ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);


ALTER TABLE keyed_state.attribute OWNER TO keyed_owner;

--
-- Name: TABLE attribute; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.attribute IS 'Attributes: each is a column of its template''s table.';


--
-- Name: COLUMN attribute.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.id IS 'Stays the same when the attribute is renamed.';


--
-- Name: COLUMN attribute.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.template_id IS 'The template that has it.';


--
-- Name: COLUMN attribute.slug; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.slug IS 'The name of the column.';


--
-- Name: COLUMN attribute.type; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.type IS 'The attribute''s type, which decides the type of the column.';


--
-- Name: COLUMN attribute.label; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.label IS 'What people read; null: the slug.';


--
-- Name: COLUMN attribute.required; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.required IS 'Whether the column is NOT NULL.';


--
-- Name: COLUMN attribute.indexed; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.indexed IS 'Whether filters and sorts find an index.';


--
-- Name: COLUMN attribute.options; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.options IS 'A list''s only values: [{value, label}]; null: any value.';


--
-- Name: COLUMN attribute.target_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.target_id IS 'A reference''s target template.';


--
-- Name: COLUMN attribute.default_value; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute.default_value IS 'The value of a record created without one.';


--
-- Name: COLUMN attribute."position"; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute."position" IS 'The order in which attributes are shown.';


--
-- Name: attribute_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.attribute ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.attribute_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: attribute_use; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.attribute_use (
    attribute_id integer NOT NULL,
    filters bigint DEFAULT 0 NOT NULL,
    sorts bigint DEFAULT 0 NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    last_at timestamp with time zone
)
WITH (fillfactor='50');


ALTER TABLE keyed_state.attribute_use OWNER TO keyed_owner;

--
-- Name: TABLE attribute_use; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.attribute_use IS 'How often searches filter and sort by each attribute, where an index could serve them.';


--
-- Name: COLUMN attribute_use.attribute_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute_use.attribute_id IS 'The attribute.';


--
-- Name: COLUMN attribute_use.filters; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute_use.filters IS 'How many searches filtered by it.';


--
-- Name: COLUMN attribute_use.sorts; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute_use.sorts IS 'How many searches sorted by it.';


--
-- Name: COLUMN attribute_use.since; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute_use.since IS 'From when on they are counted.';


--
-- Name: COLUMN attribute_use.last_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.attribute_use.last_at IS 'When a session last added its count.';


--
-- Name: embedding_job; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.embedding_job (
    record_id uuid NOT NULL,
    template_id integer NOT NULL,
    state text NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    claim uuid,
    attempts integer DEFAULT 0 NOT NULL,
    error text,
    failed_at timestamp with time zone,
    by_hand boolean DEFAULT false NOT NULL,
    text_hash bytea,
    model text,
    embedded_at timestamp with time zone,
    CONSTRAINT embedding_job_check CHECK (((state = 'running'::text) = (claim IS NOT NULL))),
    CONSTRAINT embedding_job_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'failed'::text, 'done'::text, 'deleted'::text]))),
    CONSTRAINT embedding_job_text_hash_check CHECK ((octet_length(text_hash) = 32))
)
WITH (fillfactor='80');


ALTER TABLE keyed_state.embedding_job OWNER TO keyed_owner;

--
-- Name: TABLE embedding_job; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.embedding_job IS 'One row for each record of the templates that are embedded: what is to be done, and of what its vector was made.';


--
-- Name: COLUMN embedding_job.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.record_id IS 'The record.';


--
-- Name: COLUMN embedding_job.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.template_id IS 'The template of the record.';


--
-- Name: COLUMN embedding_job.state; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.state IS 'pending: waits for a worker; running: a worker has it; failed: given up; done: there is nothing to do; deleted: the record is.';


--
-- Name: COLUMN embedding_job.due_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.due_at IS 'pending: from when on it may be claimed; running: until when the claim holds.';


--
-- Name: COLUMN embedding_job.claim; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.claim IS 'running: whose it is. A new text takes it away.';


--
-- Name: COLUMN embedding_job.attempts; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.attempts IS 'How often it was claimed for this text, the times that the provider could not work left out.';


--
-- Name: COLUMN embedding_job.error; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.error IS 'What went wrong the last time.';


--
-- Name: COLUMN embedding_job.failed_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.failed_at IS 'When that was.';


--
-- Name: COLUMN embedding_job.by_hand; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.by_hand IS 'Whether somebody set or removed the vector since the text last changed: then it is left alone.';


--
-- Name: COLUMN embedding_job.text_hash; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.text_hash IS 'SHA-256 of the text that the vector was made of.';


--
-- Name: COLUMN embedding_job.model; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.model IS 'The model that made the vector.';


--
-- Name: COLUMN embedding_job.embedded_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.embedding_job.embedded_at IS 'When it was stored.';


--
-- Name: history_1; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.history_1 (
    record_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    source text NOT NULL,
    operation text NOT NULL,
    external_key text COLLATE pg_catalog."C",
    changes jsonb NOT NULL
);


ALTER TABLE keyed_state.history_1 OWNER TO keyed_owner;

--
-- Name: TABLE history_1; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.history_1 IS 'Every change of the records of crm.companies: who, when, from which source, old and new values.';


--
-- Name: COLUMN history_1.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.record_id IS 'The record.';


--
-- Name: COLUMN history_1.version; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.version IS 'Counts the changes of a record, from 1.';


--
-- Name: COLUMN history_1.at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.at IS 'When: the time of the transaction.';


--
-- Name: COLUMN history_1.actor; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.actor IS 'Who: the API key by its label and number, or the login.';


--
-- Name: COLUMN history_1.source; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.source IS 'The source of the change: api, app, csv, inbound or sql.';


--
-- Name: COLUMN history_1.operation; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.operation IS 'create, update, delete, restore or purge.';


--
-- Name: COLUMN history_1.external_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.external_key IS 'The key that the record held after the change.';


--
-- Name: COLUMN history_1.changes; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_1.changes IS 'What differs: {attribute: {old, new}}.';


--
-- Name: history_2; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.history_2 (
    record_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    source text NOT NULL,
    operation text NOT NULL,
    external_key text COLLATE pg_catalog."C",
    changes jsonb NOT NULL
);


ALTER TABLE keyed_state.history_2 OWNER TO keyed_owner;

--
-- Name: TABLE history_2; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.history_2 IS 'Every change of the records of crm.customers: who, when, from which source, old and new values.';


--
-- Name: COLUMN history_2.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.record_id IS 'The record.';


--
-- Name: COLUMN history_2.version; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.version IS 'Counts the changes of a record, from 1.';


--
-- Name: COLUMN history_2.at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.at IS 'When: the time of the transaction.';


--
-- Name: COLUMN history_2.actor; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.actor IS 'Who: the API key by its label and number, or the login.';


--
-- Name: COLUMN history_2.source; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.source IS 'The source of the change: api, app, csv, inbound or sql.';


--
-- Name: COLUMN history_2.operation; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.operation IS 'create, update, delete, restore or purge.';


--
-- Name: COLUMN history_2.external_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.external_key IS 'The key that the record held after the change.';


--
-- Name: COLUMN history_2.changes; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_2.changes IS 'What differs: {attribute: {old, new}}.';


--
-- Name: history_3; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.history_3 (
    record_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    source text NOT NULL,
    operation text NOT NULL,
    external_key text COLLATE pg_catalog."C",
    changes jsonb NOT NULL
);


ALTER TABLE keyed_state.history_3 OWNER TO keyed_owner;

--
-- Name: TABLE history_3; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.history_3 IS 'Every change of the records of crm.tree: who, when, from which source, old and new values.';


--
-- Name: COLUMN history_3.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.record_id IS 'The record.';


--
-- Name: COLUMN history_3.version; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.version IS 'Counts the changes of a record, from 1.';


--
-- Name: COLUMN history_3.at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.at IS 'When: the time of the transaction.';


--
-- Name: COLUMN history_3.actor; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.actor IS 'Who: the API key by its label and number, or the login.';


--
-- Name: COLUMN history_3.source; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.source IS 'The source of the change: api, app, csv, inbound or sql.';


--
-- Name: COLUMN history_3.operation; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.operation IS 'create, update, delete, restore or purge.';


--
-- Name: COLUMN history_3.external_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.external_key IS 'The key that the record held after the change.';


--
-- Name: COLUMN history_3.changes; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.history_3.changes IS 'What differs: {attribute: {old, new}}.';


--
-- Name: idempotency_full; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.idempotency_full (
    key_id integer NOT NULL,
    reached_at timestamp with time zone NOT NULL
);


ALTER TABLE keyed_state.idempotency_full OWNER TO keyed_owner;

--
-- Name: TABLE idempotency_full; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.idempotency_full IS 'API keys whose answers in keyed_state.idempotent_request take as much room as keyed.idempotency_room allows: their requests with a new Idempotency-Key are refused for a minute, and then looked at again.';


--
-- Name: COLUMN idempotency_full.key_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotency_full.key_id IS 'The API key.';


--
-- Name: COLUMN idempotency_full.reached_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotency_full.reached_at IS 'When that was last found.';


--
-- Name: idempotent_request; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.idempotent_request (
    key_id integer NOT NULL,
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    answer text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotent_request_fingerprint_check CHECK ((octet_length(fingerprint) = 32))
);


ALTER TABLE keyed_state.idempotent_request OWNER TO keyed_owner;

--
-- Name: TABLE idempotent_request; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.idempotent_request IS 'Answers to requests that came with an Idempotency-Key, written by the transaction of the request; removed a day later, by other writers and keyed.purge_idempotency_keys().';


--
-- Name: COLUMN idempotent_request.key_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotent_request.key_id IS 'The API key that sent the request.';


--
-- Name: COLUMN idempotent_request.idempotency_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotent_request.idempotency_key IS 'The header''s value.';


--
-- Name: COLUMN idempotent_request.fingerprint; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotent_request.fingerprint IS 'SHA-256 of the request: method, address, project and body.';


--
-- Name: COLUMN idempotent_request.answer; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotent_request.answer IS 'What was answered: status, id of what was created, body. Not for others'' eyes.';


--
-- Name: COLUMN idempotent_request.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.idempotent_request.created_at IS 'When the request was run.';


--
-- Name: inbound_delivery; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.inbound_delivery (
    id bigint NOT NULL,
    endpoint_id integer NOT NULL,
    webhook_id text COLLATE pg_catalog."C",
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    status text NOT NULL,
    error jsonb,
    created integer DEFAULT 0 NOT NULL,
    updated integer DEFAULT 0 NOT NULL,
    payload text,
    CONSTRAINT inbound_delivery_status_check CHECK ((status = ANY (ARRAY['done'::text, 'failed'::text])))
);


ALTER TABLE keyed_state.inbound_delivery OWNER TO keyed_owner;

--
-- Name: TABLE inbound_delivery; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.inbound_delivery IS 'Deliveries: what was done, and what was refused, as it was sent.';


--
-- Name: COLUMN inbound_delivery.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.id IS 'Counts the deliveries of all endpoints.';


--
-- Name: COLUMN inbound_delivery.endpoint_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.endpoint_id IS 'To which endpoint.';


--
-- Name: COLUMN inbound_delivery.webhook_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.webhook_id IS 'The id that its sender gave it: a second one with the same id has no effect. Null: none.';


--
-- Name: COLUMN inbound_delivery.received_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.received_at IS 'When.';


--
-- Name: COLUMN inbound_delivery.status; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.status IS 'done, or failed: refused as a whole.';


--
-- Name: COLUMN inbound_delivery.error; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.error IS 'Why it was refused: {code, detail, hint, errors: [{pointer, code, detail}]}.';


--
-- Name: COLUMN inbound_delivery.created; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.created IS 'How many records it created.';


--
-- Name: COLUMN inbound_delivery.updated; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.updated IS 'How many records it found there.';


--
-- Name: COLUMN inbound_delivery.payload; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_delivery.payload IS 'What was sent, to the letter; null: purged after it was done.';


--
-- Name: inbound_delivery_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.inbound_delivery ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.inbound_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: inbound_endpoint; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.inbound_endpoint (
    id integer NOT NULL,
    project_id integer NOT NULL,
    template_id integer NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    role regrole NOT NULL,
    items text NOT NULL,
    external_key text NOT NULL,
    key_prefix text DEFAULT ''::text NOT NULL,
    mapping jsonb NOT NULL,
    secret bytea,
    enabled boolean DEFAULT true NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    role_name text DEFAULT ''::text NOT NULL,
    bound_in text DEFAULT ''::text NOT NULL,
    CONSTRAINT inbound_endpoint_slug_form CHECK ((slug ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT inbound_endpoint_token_hash_check CHECK ((octet_length(token_hash) = 32))
);


ALTER TABLE keyed_state.inbound_endpoint OWNER TO keyed_owner;

--
-- Name: TABLE inbound_endpoint; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.inbound_endpoint IS 'Inbound endpoints: addresses to which other systems deliver what becomes records. Neither the token in the address is here nor what the proxy presents for it.';


--
-- Name: COLUMN inbound_endpoint.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.id IS 'Stays the same when the endpoint is changed.';


--
-- Name: COLUMN inbound_endpoint.project_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.project_id IS 'The project in which its name is looked up: that of its template.';


--
-- Name: COLUMN inbound_endpoint.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.template_id IS 'The template whose records it writes.';


--
-- Name: COLUMN inbound_endpoint.slug; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.slug IS 'Its name; history shows it.';


--
-- Name: COLUMN inbound_endpoint.role; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.role IS 'The role as which it writes: what that role may not do is refused.';


--
-- Name: COLUMN inbound_endpoint.items; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.items IS 'The jsonpath of the items in a payload.';


--
-- Name: COLUMN inbound_endpoint.external_key; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.external_key IS 'The jsonpath of the key in an item.';


--
-- Name: COLUMN inbound_endpoint.key_prefix; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.key_prefix IS 'What every key begins with.';


--
-- Name: COLUMN inbound_endpoint.mapping; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.mapping IS 'The jsonpath of each attribute in an item: {attribute: path}, or of a reference {attribute: {path, key_prefix}}.';


--
-- Name: COLUMN inbound_endpoint.secret; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.secret IS 'The secret with which deliveries are signed, since it is needed to check them; null: they are not. Only keyed_owner and superusers can read it, and whoever has a dump.';


--
-- Name: COLUMN inbound_endpoint.enabled; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.enabled IS 'Whether deliveries are taken.';


--
-- Name: COLUMN inbound_endpoint.token_hash; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.token_hash IS 'SHA-256 of ''keyed.inbound_token:'' and what is presented, which is the SHA-256 of the token.';


--
-- Name: COLUMN inbound_endpoint.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.created_at IS 'When it was made.';


--
-- Name: COLUMN inbound_endpoint.created_by; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.created_by IS 'The login that made it.';


--
-- Name: COLUMN inbound_endpoint.updated_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.updated_at IS 'When somebody last changed it.';


--
-- Name: COLUMN inbound_endpoint.role_name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.role_name IS 'What the role was called when that was last written down.';


--
-- Name: COLUMN inbound_endpoint.bound_in; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_endpoint.bound_in IS 'The cluster and the table in which role and role_name were written down together: keyed.binding(tableoid). After a restore elsewhere a row counts only where role and role_name still agree; where bound_in agrees, the role may have been renamed. See keyed.is_bound.';


--
-- Name: inbound_endpoint_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.inbound_endpoint ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.inbound_endpoint_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: inbound_refused; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.inbound_refused (
    endpoint_id integer NOT NULL,
    deliveries bigint NOT NULL,
    bytes bigint NOT NULL
)
WITH (fillfactor='25');


ALTER TABLE keyed_state.inbound_refused OWNER TO keyed_owner;

--
-- Name: TABLE inbound_refused; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.inbound_refused IS 'What the refused deliveries of an endpoint take at most, so that a further one is kept without counting them all: those that were replayed or purged since are counted here until there is no more room, when all are counted anew.';


--
-- Name: COLUMN inbound_refused.endpoint_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_refused.endpoint_id IS 'The endpoint.';


--
-- Name: COLUMN inbound_refused.deliveries; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_refused.deliveries IS 'How many there are at most.';


--
-- Name: COLUMN inbound_refused.bytes; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.inbound_refused.bytes IS 'How many bytes their payloads have at most.';


--
-- Name: job; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.job (
    id bigint NOT NULL,
    template_id integer NOT NULL,
    kind text NOT NULL,
    attribute_id integer,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    "position" uuid,
    records_done bigint DEFAULT 0 NOT NULL,
    records bigint,
    state text DEFAULT 'pending'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    left_out uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    dropped integer[] DEFAULT '{}'::integer[] NOT NULL,
    CONSTRAINT job_check CHECK (((kind = 'index'::text) = (attribute_id IS NOT NULL))),
    CONSTRAINT job_kind_check CHECK ((kind = ANY (ARRAY['index'::text, 'documents'::text, 'embeddings'::text, 'series'::text]))),
    CONSTRAINT job_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'failed'::text])))
);


ALTER TABLE keyed_state.job OWNER TO keyed_owner;

--
-- Name: TABLE job; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.job IS 'What a background worker still has to do after a change of a definition: one row for each job, gone when it is done. keyed.jobs() shows them.';


--
-- Name: COLUMN job.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.id IS 'Counts the jobs.';


--
-- Name: COLUMN job.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.template_id IS 'The template that was changed.';


--
-- Name: COLUMN job.kind; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.kind IS 'index: the indexes of an attribute are built; documents: what is searched of each record is written anew; embeddings: each record is looked at for a text to embed; series: the points of dropped metrics are deleted.';


--
-- Name: COLUMN job.attribute_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.attribute_id IS 'index: the attribute.';


--
-- Name: COLUMN job.languages; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.languages IS 'documents: the languages of which documents that are not yet written anew may hold stems.';


--
-- Name: COLUMN job."position"; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job."position" IS 'The last record that is done; null: none is.';


--
-- Name: COLUMN job.records_done; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.records_done IS 'How many records, or points of series, are done.';


--
-- Name: COLUMN job.records; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.records IS 'How many there were when the job began; null: it has not begun.';


--
-- Name: COLUMN job.state; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.state IS 'pending: waits or is run; failed: given up until it is asked for again.';


--
-- Name: COLUMN job.attempts; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.attempts IS 'How often it failed since it was asked for.';


--
-- Name: COLUMN job.error; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.error IS 'What went wrong the last time.';


--
-- Name: COLUMN job.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.created_at IS 'When the definition was changed.';


--
-- Name: COLUMN job.started_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.started_at IS 'When a worker first began with it.';


--
-- Name: COLUMN job.left_out; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.left_out IS 'The records before the position that others had locked: the job comes back to them.';


--
-- Name: COLUMN job.dropped; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.job.dropped IS 'documents: the dropped attributes of which documents that are not yet written anew may hold texts; series: the dropped metrics.';


--
-- Name: job_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: metric_2; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.metric_2 (
    record_id uuid NOT NULL,
    attribute_id integer NOT NULL,
    at timestamp with time zone NOT NULL,
    id bigint NOT NULL,
    value double precision NOT NULL
);


ALTER TABLE keyed_state.metric_2 OWNER TO keyed_owner;

--
-- Name: TABLE metric_2; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.metric_2 IS 'Series of the metrics of crm.customers: every point ever appended.';


--
-- Name: COLUMN metric_2.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.metric_2.record_id IS 'The record.';


--
-- Name: COLUMN metric_2.attribute_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.metric_2.attribute_id IS 'The metric: its number in keyed_state.attribute.';


--
-- Name: COLUMN metric_2.at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.metric_2.at IS 'When the value was measured.';


--
-- Name: COLUMN metric_2.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.metric_2.id IS 'Tells points of one time apart.';


--
-- Name: COLUMN metric_2.value; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.metric_2.value IS 'What was measured.';


--
-- Name: metric_2_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.metric_2 ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.metric_2_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: project; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.project (
    id integer NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    time_zone text,
    CONSTRAINT project_slug_form CHECK ((slug ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT project_slug_reserved CHECK (((slug !~ '^pg_'::text) AND (slug <> ALL (ARRAY['information_schema'::text, 'public'::text, 'keyed'::text, 'keyed_http'::text, 'keyed_state'::text, 'keyed_scope'::text]))))
);


ALTER TABLE keyed_state.project OWNER TO keyed_owner;

--
-- Name: TABLE project; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.project IS 'Projects: each is a schema of the same name.';


--
-- Name: COLUMN project.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.project.id IS 'The number that X-Service-Project-Id may carry.';


--
-- Name: COLUMN project.slug; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.project.slug IS 'The name of the schema.';


--
-- Name: COLUMN project.name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.project.name IS 'What people read.';


--
-- Name: COLUMN project.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.project.created_at IS 'When the project was created.';


--
-- Name: COLUMN project.time_zone; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.project.time_zone IS 'The time zone of searches that name none; null: UTC.';


--
-- Name: project_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.project ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.project_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: quota; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.quota (
    project_id integer NOT NULL,
    name text NOT NULL,
    maximum bigint NOT NULL,
    set_at timestamp with time zone DEFAULT now() NOT NULL,
    set_by text NOT NULL,
    CONSTRAINT quota_maximum_check CHECK ((maximum >= 0)),
    CONSTRAINT quota_name_check CHECK ((name = ANY (ARRAY['live_records'::text, 'templates'::text, 'attributes_per_template'::text, 'writes_per_day'::text])))
);


ALTER TABLE keyed_state.quota OWNER TO keyed_owner;

--
-- Name: TABLE quota; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.quota IS 'What keyed.set_quota set: the most that a project may hold or write.';


--
-- Name: COLUMN quota.project_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota.project_id IS 'The project.';


--
-- Name: COLUMN quota.name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota.name IS 'live_records, templates, attributes_per_template or writes_per_day.';


--
-- Name: COLUMN quota.maximum; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota.maximum IS 'The most there may be.';


--
-- Name: COLUMN quota.set_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota.set_at IS 'When it was set.';


--
-- Name: COLUMN quota.set_by; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota.set_by IS 'The login that set it.';


--
-- Name: quota_slot; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.quota_slot (
    project_id integer NOT NULL,
    name text NOT NULL,
    slot integer NOT NULL,
    used bigint NOT NULL,
    allowed bigint NOT NULL,
    is_over boolean DEFAULT false NOT NULL,
    day date NOT NULL
)
WITH (fillfactor='25');


ALTER TABLE keyed_state.quota_slot OWNER TO keyed_owner;

--
-- Name: TABLE quota_slot; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.quota_slot IS 'What is used of live_records and writes_per_day, spread over rows that writers take without waiting for each other.';


--
-- Name: COLUMN quota_slot.project_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.project_id IS 'The project.';


--
-- Name: COLUMN quota_slot.name; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.name IS 'The quota.';


--
-- Name: COLUMN quota_slot.slot; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.slot IS 'Tells the rows of a quota apart.';


--
-- Name: COLUMN quota_slot.used; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.used IS 'What was counted here; may be negative, as one row counts what is made and another what is deleted.';


--
-- Name: COLUMN quota_slot.allowed; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.allowed IS 'How far used may rise. Unless more is used than the quota, the sum over all rows is at most the quota.';


--
-- Name: COLUMN quota_slot.is_over; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.is_over IS 'Whether more was used than the quota when it was dealt out: then what is given back makes no room here.';


--
-- Name: COLUMN quota_slot.day; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.quota_slot.day IS 'The day that used is about; infinity for what has none.';


--
-- Name: template; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.template (
    id integer NOT NULL,
    project_id integer NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    label text,
    display text COLLATE pg_catalog."C",
    language text DEFAULT 'english'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    embed integer[],
    CONSTRAINT template_display_form CHECK ((display ~ '^[a-z][a-z0-9_]{0,62}$'::text)),
    CONSTRAINT template_slug_form CHECK ((slug ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);


ALTER TABLE keyed_state.template OWNER TO keyed_owner;

--
-- Name: TABLE template; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.template IS 'Templates: each is a table of that name in its project''s schema.';


--
-- Name: COLUMN template.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.id IS 'The number that every record id of the template carries.';


--
-- Name: COLUMN template.project_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.project_id IS 'The project that holds it.';


--
-- Name: COLUMN template.slug; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.slug IS 'The name of the table.';


--
-- Name: COLUMN template.label; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.label IS 'What people read; null: the slug.';


--
-- Name: COLUMN template.display; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.display IS 'The attribute shown for a record; null: the first string.';


--
-- Name: COLUMN template.language; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.language IS 'The text-search configuration.';


--
-- Name: COLUMN template.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.created_at IS 'When the template was created.';


--
-- Name: COLUMN template.updated_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.updated_at IS 'When its definition last changed.';


--
-- Name: COLUMN template.embed; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.template.embed IS 'The attributes whose texts are embedded, by their numbers and in their order; null: none.';


--
-- Name: template_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.template ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.template_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: text_1; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.text_1 (
    record_id uuid NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C"
);


ALTER TABLE keyed_state.text_1 OWNER TO keyed_owner;

--
-- Name: TABLE text_1; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.text_1 IS 'What is searched of each live record of crm.companies.';


--
-- Name: COLUMN text_1.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_1.record_id IS 'The record.';


--
-- Name: COLUMN text_1.document; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_1.document IS 'Its key, texts and list labels without case and accents, and their stems.';


--
-- Name: text_2; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.text_2 (
    record_id uuid NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C"
);


ALTER TABLE keyed_state.text_2 OWNER TO keyed_owner;

--
-- Name: TABLE text_2; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.text_2 IS 'What is searched of each live record of crm.customers.';


--
-- Name: COLUMN text_2.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_2.record_id IS 'The record.';


--
-- Name: COLUMN text_2.document; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_2.document IS 'Its key, texts and list labels without case and accents, and their stems.';


--
-- Name: text_3; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.text_3 (
    record_id uuid NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C"
);


ALTER TABLE keyed_state.text_3 OWNER TO keyed_owner;

--
-- Name: TABLE text_3; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.text_3 IS 'What is searched of each live record of crm.tree.';


--
-- Name: COLUMN text_3.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_3.record_id IS 'The record.';


--
-- Name: COLUMN text_3.document; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.text_3.document IS 'Its key, texts and list labels without case and accents, and their stems.';


--
-- Name: vector_1; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.vector_1 (
    record_id uuid NOT NULL,
    embedding public.vector(768) NOT NULL,
    live boolean DEFAULT true NOT NULL,
    CONSTRAINT has_length_one CHECK (((public.vector_norm(embedding) >= (0.999)::double precision) AND (public.vector_norm(embedding) <= (1.001)::double precision)))
)
WITH (parallel_workers='0');
ALTER TABLE ONLY keyed_state.vector_1 ALTER COLUMN embedding SET STORAGE PLAIN;


ALTER TABLE keyed_state.vector_1 OWNER TO keyed_owner;

--
-- Name: TABLE vector_1; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.vector_1 IS 'What each record of crm.companies means, as far as a vector was set for it.';


--
-- Name: COLUMN vector_1.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_1.record_id IS 'The record.';


--
-- Name: COLUMN vector_1.embedding; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_1.embedding IS 'Its vector, of length one.';


--
-- Name: COLUMN vector_1.live; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_1.live IS 'Whether the record is live: the index holds no others.';


--
-- Name: vector_2; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.vector_2 (
    record_id uuid NOT NULL,
    embedding public.vector(768) NOT NULL,
    live boolean DEFAULT true NOT NULL,
    CONSTRAINT has_length_one CHECK (((public.vector_norm(embedding) >= (0.999)::double precision) AND (public.vector_norm(embedding) <= (1.001)::double precision)))
)
WITH (parallel_workers='0');
ALTER TABLE ONLY keyed_state.vector_2 ALTER COLUMN embedding SET STORAGE PLAIN;


ALTER TABLE keyed_state.vector_2 OWNER TO keyed_owner;

--
-- Name: TABLE vector_2; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.vector_2 IS 'What each record of crm.customers means, as far as a vector was set for it.';


--
-- Name: COLUMN vector_2.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_2.record_id IS 'The record.';


--
-- Name: COLUMN vector_2.embedding; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_2.embedding IS 'Its vector, of length one.';


--
-- Name: COLUMN vector_2.live; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_2.live IS 'Whether the record is live: the index holds no others.';


--
-- Name: vector_3; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.vector_3 (
    record_id uuid NOT NULL,
    embedding public.vector(768) NOT NULL,
    live boolean DEFAULT true NOT NULL,
    CONSTRAINT has_length_one CHECK (((public.vector_norm(embedding) >= (0.999)::double precision) AND (public.vector_norm(embedding) <= (1.001)::double precision)))
)
WITH (parallel_workers='0');
ALTER TABLE ONLY keyed_state.vector_3 ALTER COLUMN embedding SET STORAGE PLAIN;


ALTER TABLE keyed_state.vector_3 OWNER TO keyed_owner;

--
-- Name: TABLE vector_3; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.vector_3 IS 'What each record of crm.tree means, as far as a vector was set for it.';


--
-- Name: COLUMN vector_3.record_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_3.record_id IS 'The record.';


--
-- Name: COLUMN vector_3.embedding; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_3.embedding IS 'Its vector, of length one.';


--
-- Name: COLUMN vector_3.live; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.vector_3.live IS 'Whether the record is live: the index holds no others.';


--
-- Name: version; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.version (
    number integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


ALTER TABLE keyed_state.version OWNER TO keyed_owner;

--
-- Name: TABLE version; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.version IS 'The scripts that made this state what it is.';


--
-- Name: COLUMN version.number; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.version.number IS 'The number of the script.';


--
-- Name: COLUMN version.applied_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.version.applied_at IS 'When it ran.';


--
-- Name: view; Type: TABLE; Schema: keyed_state; Owner: keyed_owner
--

CREATE TABLE keyed_state.view (
    id integer NOT NULL,
    template_id integer NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    label text,
    query jsonb NOT NULL,
    definition text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT view_slug_form CHECK ((slug ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);


ALTER TABLE keyed_state.view OWNER TO keyed_owner;

--
-- Name: TABLE view; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON TABLE keyed_state.view IS 'Saved views: bodies of searches. Each but those for words is a view of PostgreSQL, too: project.template__slug.';


--
-- Name: COLUMN view.id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.id IS 'Stays the same when the view is changed.';


--
-- Name: COLUMN view.template_id; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.template_id IS 'The template whose records it shows.';


--
-- Name: COLUMN view.slug; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.slug IS 'Its name, the end of that of its view in PostgreSQL.';


--
-- Name: COLUMN view.label; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.label IS 'What people read; null: the slug.';


--
-- Name: COLUMN view.query; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.query IS 'The body of the search.';


--
-- Name: COLUMN view.definition; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.definition IS 'The query that its view in PostgreSQL was last made of; null: it has none.';


--
-- Name: COLUMN view.created_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.created_at IS 'When it was first saved.';


--
-- Name: COLUMN view.updated_at; Type: COMMENT; Schema: keyed_state; Owner: keyed_owner
--

COMMENT ON COLUMN keyed_state.view.updated_at IS 'When somebody last saved it.';


--
-- Name: view_id_seq; Type: SEQUENCE; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.view ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME keyed_state.view_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: companies; Type: TABLE DATA; Schema: crm; Owner: keyed_owner
--

COPY crm.companies (id, external_key, created_at, updated_at, deleted_at, _released_key, name) FROM stdin;
01a20774-58d6-893c-8000-007b02e5e27e	C-1	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	ACME
01a20774-58d8-86d8-8000-00598d63ba7e	C-2	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	ACME
01a20774-58e0-8e2d-8000-0065fb9acbda	C-3	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	ACME
\.


--
-- Data for Name: customers; Type: TABLE DATA; Schema: crm; Owner: keyed_owner
--

COPY crm.customers (id, external_key, created_at, updated_at, deleted_at, _released_key, name, visits, mood, tags, tier, born, seen, company, active) FROM stdin;
01a20774-58e3-812d-8000-00a6099666c6	é:/ 1	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "1	1.10	1	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58e4-858b-8000-008291384665	é:/ 2	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "2	2.20	2	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58ed-80d5-8000-0083ac7504c1	é:/ 3	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "3	3.30	3	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58ed-86b1-8000-008b13319a4a	é:/ 4	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "4	4.40	4	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58ed-8a6f-8000-00a6c0853583	é:/ 5	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "5	5.50	5	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58ed-8ec3-8000-00a34b70784f	é:/ 6	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "6	6.60	6	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-58ee-829d-8000-009b642440d1	é:/ 7	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "7	7.70	7	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58ee-8598-8000-008f8aecae44	é:/ 8	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "8	8.80	8	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58ee-88a2-8000-00a1389401fb	é:/ 9	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "9	9.90	9	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58ee-8b73-8000-009df10af4ca	é:/ 10	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "10	11.00	10	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58ee-8e74-8000-009ec9b574d1	é:/ 11	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "11	12.10	11	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58ef-8150-8000-00bdf46fae0f	é:/ 12	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "12	13.20	12	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-58ef-8454-8000-00b076e7ead3	é:/ 13	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "13	14.30	13	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58ef-8715-8000-00aea28999f1	é:/ 14	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "14	15.40	14	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58ef-8cf8-8000-00942fe459fa	é:/ 15	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "15	16.50	15	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58ef-8fcd-8000-008c64ca9ce0	é:/ 16	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "16	17.60	16	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58f0-8285-8000-00a293be5ace	é:/ 17	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "17	18.70	17	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58f0-8540-8000-008093b99f75	é:/ 18	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "18	19.80	18	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-58f8-8edd-8000-009d7c5ae75f	é:/ 19	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "19	20.90	19	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58f9-8478-8000-00ad626989ed	é:/ 20	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "20	22.00	20	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58f9-878b-8000-00bf7258cd64	é:/ 21	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "21	23.10	21	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58f9-8a70-8000-00884391e6d2	é:/ 22	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "22	24.20	22	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58f9-8d84-8000-00aaaf567570	é:/ 23	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "23	25.30	23	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58fa-805c-8000-00a0d931ad84	é:/ 24	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "24	26.40	24	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-58fa-8324-8000-00bf3d17dc47	é:/ 25	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "25	27.50	25	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58fa-860f-8000-00891431b6b0	é:/ 26	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "26	28.60	26	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58fa-88d4-8000-00a153fdd172	é:/ 27	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "27	29.70	27	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58fa-8c44-8000-009d48517d15	é:/ 28	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "28	31.80	28	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58fa-8f14-8000-00b4cfddcd53	é:/ 29	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "29	32.90	29	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58fb-81fa-8000-00acfa2863de	é:/ 30	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "30	34.00	30	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-58fb-84c5-8000-00b8273f484d	é:/ 31	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "31	35.10	31	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-58fb-8789-8000-009df9c5bdd3	é:/ 32	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "32	36.20	32	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-58fb-8a41-8000-008b4fdfd8e6	é:/ 33	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "33	37.30	33	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-58fb-8d23-8000-00b8884fe28f	é:/ 34	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "34	38.40	34	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-58fb-8fda-8000-00903aa18f4a	é:/ 35	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "35	39.50	35	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-58fc-85cb-8000-0080cee6bfdc	é:/ 36	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "36	40.60	36	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-5904-8e7c-8000-0095f64329fd	é:/ 37	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "37	41.70	37	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-5905-83c1-8000-009c0462fd59	é:/ 38	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "38	42.80	38	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-5905-8708-8000-00bbf1f6de11	é:/ 39	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "39	43.90	39	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-5905-8a23-8000-00b302e8f552	é:/ 40	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "40	45.00	40	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-5905-8e50-8000-0088fcdcb5a7	é:/ 41	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "41	46.10	41	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-5906-813a-8000-008a0ceae186	é:/ 42	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "42	47.20	42	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-5906-840a-8000-0095f9965133	é:/ 43	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "43	48.30	43	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-5906-86d1-8000-00af182f5967	é:/ 44	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	it's \\ "44	49.40	44	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-5906-89b8-8000-008670743d57	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 45	it's \\ "45	50.50	45	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	f
01a20774-5906-8c83-8000-008dfadeadbb	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 46	it's \\ "46	51.60	46	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	t
01a20774-5906-8f4e-8000-008ffd8fc212	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 47	it's \\ "47	52.70	47	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	f
01a20774-5907-8205-8000-00ab88885f1a	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 48	it's \\ "48	53.80	48	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d6-893c-8000-007b02e5e27e	t
01a20774-5907-84e7-8000-009b2efb2be0	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 49	it's \\ "49	54.90	49	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58d8-86d8-8000-00598d63ba7e	f
01a20774-5907-87a3-8000-00830f4a45c8	\N	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	é:/ 50	it's \\ "50	56.00	50	{x,"y,{}"}	{gold}	2024-02-29	2024-02-29 12:00:00.123456+00	01a20774-58e0-8e2d-8000-0065fb9acbda	t
01a20774-5913-8b93-8000-00a13c30492f	text:1	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	Running horses	\N	\N	\N	\N	\N	\N	\N	\N
01a20774-5914-8063-8000-00b668609916	text:2	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	The horse ran	\N	\N	\N	\N	\N	\N	\N	\N
01a20774-5914-8247-8000-0097793f8947	text:3	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	Straße nach Überlingen	\N	\N	\N	\N	\N	\N	\N	\N
01a20774-5914-84ee-8000-009e17abd9e1	text:4	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	part number 77-AB.9	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: tree; Type: TABLE DATA; Schema: crm; Owner: keyed_owner
--

COPY crm.tree (id, external_key, created_at, updated_at, deleted_at, _released_key, up) FROM stdin;
01a20774-5944-8acd-8000-00f83250ea92	a	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N	\N	01a20774-5944-8acd-8000-00f83250ea92
\.


--
-- Data for Name: access_grant; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.access_grant (id, role, project_id, template_id, privilege, scope, granted_at, granted_by, role_name, bound_in) FROM stdin;
1	release_clerk	1	2	read	\N	2026-11-23 08:09:55.106228+00	postgres	release_clerk	7711276167050436380/17062
2	release_clerk	1	2	create	\N	2026-11-23 08:09:55.106228+00	postgres	release_clerk	7711276167050436380/17062
3	release_clerk	1	2	update	\N	2026-11-23 08:09:55.106228+00	postgres	release_clerk	7711276167050436380/17062
4	release_partner	1	2	read	{"or": [{"field": "company.external_key", "value": "C-1", "operator": "eq"}, {"field": "company.name", "value": "It's \\\\ nobody's", "operator": "eq"}]}	2026-11-23 08:09:55.328505+00	postgres	release_partner	7711276167050436380/17062
5	release_partner	1	2	update	{"or": [{"field": "company.external_key", "value": "C-1", "operator": "eq"}, {"field": "company.name", "value": "It's \\\\ nobody's", "operator": "eq"}]}	2026-11-23 08:09:55.328505+00	postgres	release_partner	7711276167050436380/17062
6	release_partner	1	2	delete	{"or": [{"field": "company.external_key", "value": "C-1", "operator": "eq"}, {"field": "company.name", "value": "It's \\\\ nobody's", "operator": "eq"}]}	2026-11-23 08:09:55.328505+00	postgres	release_partner	7711276167050436380/17062
7	release_partner	1	\N	read	{"field": "external_key", "value": "C-", "operator": "like"}	2026-11-23 08:09:55.392772+00	postgres	release_partner	7711276167050436380/17062
\.


--
-- Data for Name: api_key; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.api_key (id, role, projects, label, hash, created_at, created_by, expires_at, revoked_at, role_name, bound_in) FROM stdin;
1	keyed_admin	\N	unused	\\x6b77c93dbd8e19f21c389a2f935e7ea80bfb74737bf3d614c8e9d4481e5ebc50	2026-11-23 08:09:55.144522+00	postgres	\N	\N	keyed_admin	7711276167050436380/17046
2	release_clerk	{1}	issued by a test	\\x0c075cc1ea8cad9293cd3cd0cc2b8ccd909072a94f790cb2bc7a2daa42cc5d43	2026-11-23 08:09:55.46154+00	postgres	\N	\N	release_clerk	7711276167050436380/17046
\.


--
-- Data for Name: api_key_use; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.api_key_use (key_id, last_used_at) FROM stdin;
1	\N
2	2026-11-23 08:09:55.642967+00
\.


--
-- Data for Name: attribute; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.attribute (id, template_id, slug, type, label, required, indexed, options, target_id, default_value, "position") FROM stdin;
1	1	name	string	\N	t	f	\N	\N	\N	1
2	2	name	string	\N	f	f	\N	\N	\N	1
3	2	visits	number	\N	f	f	\N	\N	\N	2
4	2	mood	metric	\N	f	f	\N	\N	\N	3
5	2	tags	list	\N	f	f	\N	\N	\N	4
6	2	tier	list	\N	f	f	[{"label": "Gold card", "value": "gold"}, {"label": "silver", "value": "silver"}]	\N	\N	5
7	2	born	date	\N	f	f	\N	\N	\N	6
8	2	seen	datetime	\N	f	f	\N	\N	\N	7
9	2	company	reference	\N	f	f	\N	1	\N	8
10	2	active	boolean	\N	f	f	\N	\N	\N	9
11	3	up	reference	\N	f	f	\N	3	\N	1
\.


--
-- Data for Name: attribute_use; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.attribute_use (attribute_id, filters, sorts, since, last_at) FROM stdin;
2	0	0	2026-11-23 08:09:55.01313+00	\N
4	0	0	2026-11-23 08:09:55.01313+00	\N
5	0	0	2026-11-23 08:09:55.01313+00	\N
8	0	0	2026-11-23 08:09:55.01313+00	\N
9	0	0	2026-11-23 08:09:55.01313+00	\N
10	0	0	2026-11-23 08:09:55.01313+00	\N
11	0	0	2026-11-23 08:09:55.144522+00	\N
7	0	1	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.609425+00
3	0	1	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.767405+00
6	2	0	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.767405+00
1	2	0	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.767405+00
\.


--
-- Data for Name: embedding_job; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.embedding_job (record_id, template_id, state, due_at, claim, attempts, error, failed_at, by_hand, text_hash, model, embedded_at) FROM stdin;
01a20774-58ee-8598-8000-008f8aecae44	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ee-88a2-8000-00a1389401fb	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ee-8b73-8000-009df10af4ca	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ee-8e74-8000-009ec9b574d1	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ef-8150-8000-00bdf46fae0f	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ef-8454-8000-00b076e7ead3	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ef-8715-8000-00aea28999f1	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ef-8cf8-8000-00942fe459fa	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ef-8fcd-8000-008c64ca9ce0	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f0-8285-8000-00a293be5ace	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f0-8540-8000-008093b99f75	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f8-8edd-8000-009d7c5ae75f	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f9-8478-8000-00ad626989ed	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f9-878b-8000-00bf7258cd64	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f9-8a70-8000-00884391e6d2	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58f9-8d84-8000-00aaaf567570	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-805c-8000-00a0d931ad84	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-8324-8000-00bf3d17dc47	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-860f-8000-00891431b6b0	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-88d4-8000-00a153fdd172	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-8c44-8000-009d48517d15	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fa-8f14-8000-00b4cfddcd53	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-81fa-8000-00acfa2863de	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-84c5-8000-00b8273f484d	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-8789-8000-009df9c5bdd3	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-8a41-8000-008b4fdfd8e6	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-8d23-8000-00b8884fe28f	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fb-8fda-8000-00903aa18f4a	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58fc-85cb-8000-0080cee6bfdc	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5904-8e7c-8000-0095f64329fd	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5905-83c1-8000-009c0462fd59	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5905-8708-8000-00bbf1f6de11	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5905-8a23-8000-00b302e8f552	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5905-8e50-8000-0088fcdcb5a7	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5906-813a-8000-008a0ceae186	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5906-840a-8000-0095f9965133	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5906-86d1-8000-00af182f5967	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5913-8b93-8000-00a13c30492f	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5914-8063-8000-00b668609916	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5914-8247-8000-0097793f8947	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-5914-84ee-8000-009e17abd9e1	2	pending	2026-11-23 08:09:55.144522+00	\N	0	\N	\N	f	\N	\N	\N
01a20774-58ed-80d5-8000-0083ac7504c1	2	running	2026-11-23 09:09:55.144522+00	29b4b80a-4a5b-4995-a925-f3329ba71046	1	\N	\N	f	\N	\N	\N
01a20774-58ed-86b1-8000-008b13319a4a	2	running	2026-11-23 09:09:55.144522+00	29b4b80a-4a5b-4995-a925-f3329ba71046	1	\N	\N	f	\N	\N	\N
01a20774-58ed-8a6f-8000-00a6c0853583	2	running	2026-11-23 09:09:55.144522+00	29b4b80a-4a5b-4995-a925-f3329ba71046	1	\N	\N	f	\N	\N	\N
01a20774-58ed-8ec3-8000-00a34b70784f	2	running	2026-11-23 09:09:55.144522+00	29b4b80a-4a5b-4995-a925-f3329ba71046	1	\N	\N	f	\N	\N	\N
01a20774-58ee-829d-8000-009b642440d1	2	running	2026-11-23 09:09:55.144522+00	29b4b80a-4a5b-4995-a925-f3329ba71046	1	\N	\N	f	\N	\N	\N
01a20774-58e3-812d-8000-00a6099666c6	2	done	2026-11-23 09:09:55.144522+00	\N	0	\N	\N	t	\N	\N	\N
01a20774-58e4-858b-8000-008291384665	2	done	2026-11-23 09:09:55.144522+00	\N	0	\N	\N	t	\N	\N	\N
\.


--
-- Data for Name: history_1; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.history_1 (record_id, version, at, actor, source, operation, external_key, changes) FROM stdin;
01a20774-58d6-893c-8000-007b02e5e27e	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	C-1	{"name": {"new": "ACME", "old": null}}
01a20774-58d8-86d8-8000-00598d63ba7e	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	C-2	{"name": {"new": "ACME", "old": null}}
01a20774-58e0-8e2d-8000-0065fb9acbda	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	C-3	{"name": {"new": "ACME", "old": null}}
\.


--
-- Data for Name: history_2; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.history_2 (record_id, version, at, actor, source, operation, external_key, changes) FROM stdin;
01a20774-58e3-812d-8000-00a6099666c6	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 1	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 1, "old": null}, "name": {"new": "it's \\\\ \\"1", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 1.10, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58e4-858b-8000-008291384665	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 2	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 2, "old": null}, "name": {"new": "it's \\\\ \\"2", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 2.20, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58ed-80d5-8000-0083ac7504c1	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 3	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 3, "old": null}, "name": {"new": "it's \\\\ \\"3", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 3.30, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58ed-86b1-8000-008b13319a4a	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 4	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 4, "old": null}, "name": {"new": "it's \\\\ \\"4", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 4.40, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58ed-8a6f-8000-00a6c0853583	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 5	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 5, "old": null}, "name": {"new": "it's \\\\ \\"5", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 5.50, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58ed-8ec3-8000-00a34b70784f	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 6	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 6, "old": null}, "name": {"new": "it's \\\\ \\"6", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 6.60, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58ee-829d-8000-009b642440d1	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 7	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 7, "old": null}, "name": {"new": "it's \\\\ \\"7", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 7.70, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58ee-8598-8000-008f8aecae44	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 8	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 8, "old": null}, "name": {"new": "it's \\\\ \\"8", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 8.80, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58ee-88a2-8000-00a1389401fb	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 9	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 9, "old": null}, "name": {"new": "it's \\\\ \\"9", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 9.90, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58ee-8b73-8000-009df10af4ca	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 10	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 10, "old": null}, "name": {"new": "it's \\\\ \\"10", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 11.00, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58ee-8e74-8000-009ec9b574d1	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 11	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 11, "old": null}, "name": {"new": "it's \\\\ \\"11", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 12.10, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58ef-8150-8000-00bdf46fae0f	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 12	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 12, "old": null}, "name": {"new": "it's \\\\ \\"12", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 13.20, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58ef-8454-8000-00b076e7ead3	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 13	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 13, "old": null}, "name": {"new": "it's \\\\ \\"13", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 14.30, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5904-8e7c-8000-0095f64329fd	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 37	{"visits": {"new": 41.70, "old": 40.70}}
01a20774-5905-83c1-8000-009c0462fd59	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 38	{"visits": {"new": 42.80, "old": 41.80}}
01a20774-58ef-8715-8000-00aea28999f1	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 14	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 14, "old": null}, "name": {"new": "it's \\\\ \\"14", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 15.40, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58ef-8cf8-8000-00942fe459fa	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 15	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 15, "old": null}, "name": {"new": "it's \\\\ \\"15", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 16.50, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58ef-8fcd-8000-008c64ca9ce0	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 16	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 16, "old": null}, "name": {"new": "it's \\\\ \\"16", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 17.60, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58f0-8285-8000-00a293be5ace	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 17	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 17, "old": null}, "name": {"new": "it's \\\\ \\"17", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 18.70, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58f0-8540-8000-008093b99f75	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 18	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 18, "old": null}, "name": {"new": "it's \\\\ \\"18", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 19.80, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58f8-8edd-8000-009d7c5ae75f	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 19	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 19, "old": null}, "name": {"new": "it's \\\\ \\"19", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 20.90, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58f9-8478-8000-00ad626989ed	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 20	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 20, "old": null}, "name": {"new": "it's \\\\ \\"20", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 22.00, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58f9-878b-8000-00bf7258cd64	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 21	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 21, "old": null}, "name": {"new": "it's \\\\ \\"21", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 23.10, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58f9-8a70-8000-00884391e6d2	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 22	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 22, "old": null}, "name": {"new": "it's \\\\ \\"22", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 24.20, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58f9-8d84-8000-00aaaf567570	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 23	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 23, "old": null}, "name": {"new": "it's \\\\ \\"23", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 25.30, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58fa-805c-8000-00a0d931ad84	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 24	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 24, "old": null}, "name": {"new": "it's \\\\ \\"24", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 26.40, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58fa-8324-8000-00bf3d17dc47	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 25	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 25, "old": null}, "name": {"new": "it's \\\\ \\"25", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 27.50, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58fa-860f-8000-00891431b6b0	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 26	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 26, "old": null}, "name": {"new": "it's \\\\ \\"26", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 28.60, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-5905-8708-8000-00bbf1f6de11	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 39	{"visits": {"new": 43.90, "old": 42.90}}
01a20774-5905-8a23-8000-00b302e8f552	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 40	{"visits": {"new": 45.00, "old": 44.00}}
01a20774-58fa-88d4-8000-00a153fdd172	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 27	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 27, "old": null}, "name": {"new": "it's \\\\ \\"27", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 29.70, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58fa-8c44-8000-009d48517d15	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 28	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 28, "old": null}, "name": {"new": "it's \\\\ \\"28", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 30.80, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58fa-8f14-8000-00b4cfddcd53	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 29	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 29, "old": null}, "name": {"new": "it's \\\\ \\"29", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 31.90, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58fb-81fa-8000-00acfa2863de	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 30	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 30, "old": null}, "name": {"new": "it's \\\\ \\"30", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 33.00, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58fb-84c5-8000-00b8273f484d	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 31	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 31, "old": null}, "name": {"new": "it's \\\\ \\"31", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 34.10, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58fb-8789-8000-009df9c5bdd3	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 32	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 32, "old": null}, "name": {"new": "it's \\\\ \\"32", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 35.20, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58fb-8a41-8000-008b4fdfd8e6	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 33	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 33, "old": null}, "name": {"new": "it's \\\\ \\"33", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 36.30, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-58fb-8d23-8000-00b8884fe28f	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 34	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 34, "old": null}, "name": {"new": "it's \\\\ \\"34", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 37.40, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-58fb-8fda-8000-00903aa18f4a	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 35	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 35, "old": null}, "name": {"new": "it's \\\\ \\"35", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 38.50, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58fc-85cb-8000-0080cee6bfdc	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 36	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 36, "old": null}, "name": {"new": "it's \\\\ \\"36", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 39.60, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-5904-8e7c-8000-0095f64329fd	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 37	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 37, "old": null}, "name": {"new": "it's \\\\ \\"37", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 40.70, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5905-83c1-8000-009c0462fd59	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 38	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 38, "old": null}, "name": {"new": "it's \\\\ \\"38", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 41.80, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-5905-8708-8000-00bbf1f6de11	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 39	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 39, "old": null}, "name": {"new": "it's \\\\ \\"39", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 42.90, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-5905-8e50-8000-0088fcdcb5a7	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 41	{"visits": {"new": 46.10, "old": 45.10}}
01a20774-5906-813a-8000-008a0ceae186	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 42	{"visits": {"new": 47.20, "old": 46.20}}
01a20774-5905-8a23-8000-00b302e8f552	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 40	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 40, "old": null}, "name": {"new": "it's \\\\ \\"40", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 44.00, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5905-8e50-8000-0088fcdcb5a7	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 41	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 41, "old": null}, "name": {"new": "it's \\\\ \\"41", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 45.10, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-5906-813a-8000-008a0ceae186	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 42	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 42, "old": null}, "name": {"new": "it's \\\\ \\"42", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 46.20, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-5906-840a-8000-0095f9965133	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 43	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 43, "old": null}, "name": {"new": "it's \\\\ \\"43", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 47.30, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5906-86d1-8000-00af182f5967	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 44	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 44, "old": null}, "name": {"new": "it's \\\\ \\"44", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 48.40, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-5906-89b8-8000-008670743d57	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 45	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 45, "old": null}, "name": {"new": "it's \\\\ \\"45", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 49.50, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-5906-8c83-8000-008dfadeadbb	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 46	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 46, "old": null}, "name": {"new": "it's \\\\ \\"46", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 50.60, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5906-8f4e-8000-008ffd8fc212	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 47	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 47, "old": null}, "name": {"new": "it's \\\\ \\"47", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 51.70, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-5907-8205-8000-00ab88885f1a	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 48	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 48, "old": null}, "name": {"new": "it's \\\\ \\"48", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 52.80, "old": null}, "company": {"new": "01a20774-58d6-893c-8000-007b02e5e27e", "old": null}}
01a20774-5907-84e7-8000-009b2efb2be0	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 49	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 49, "old": null}, "name": {"new": "it's \\\\ \\"49", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": false, "old": null}, "visits": {"new": 53.90, "old": null}, "company": {"new": "01a20774-58d8-86d8-8000-00598d63ba7e", "old": null}}
01a20774-5907-87a3-8000-00830f4a45c8	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	é:/ 50	{"born": {"new": "2024-02-29", "old": null}, "mood": {"new": 50, "old": null}, "name": {"new": "it's \\\\ \\"50", "old": null}, "seen": {"new": "2024-02-29T12:00:00.123456Z", "old": null}, "tags": {"new": ["x", "y,{}"], "old": null}, "tier": {"new": ["gold"], "old": null}, "active": {"new": true, "old": null}, "visits": {"new": 55.00, "old": null}, "company": {"new": "01a20774-58e0-8e2d-8000-0065fb9acbda", "old": null}}
01a20774-58fa-8c44-8000-009d48517d15	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 28	{"visits": {"new": 31.80, "old": 30.80}}
01a20774-58fa-8f14-8000-00b4cfddcd53	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 29	{"visits": {"new": 32.90, "old": 31.90}}
01a20774-58fb-81fa-8000-00acfa2863de	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 30	{"visits": {"new": 34.00, "old": 33.00}}
01a20774-58fb-84c5-8000-00b8273f484d	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 31	{"visits": {"new": 35.10, "old": 34.10}}
01a20774-58fb-8789-8000-009df9c5bdd3	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 32	{"visits": {"new": 36.20, "old": 35.20}}
01a20774-58fb-8a41-8000-008b4fdfd8e6	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 33	{"visits": {"new": 37.30, "old": 36.30}}
01a20774-58fb-8d23-8000-00b8884fe28f	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 34	{"visits": {"new": 38.40, "old": 37.40}}
01a20774-58fb-8fda-8000-00903aa18f4a	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 35	{"visits": {"new": 39.50, "old": 38.50}}
01a20774-58fc-85cb-8000-0080cee6bfdc	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 36	{"visits": {"new": 40.60, "old": 39.60}}
01a20774-5906-840a-8000-0095f9965133	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 43	{"visits": {"new": 48.30, "old": 47.30}}
01a20774-5906-86d1-8000-00af182f5967	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 44	{"visits": {"new": 49.40, "old": 48.40}}
01a20774-5906-89b8-8000-008670743d57	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 45	{"visits": {"new": 50.50, "old": 49.50}}
01a20774-5906-8c83-8000-008dfadeadbb	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 46	{"visits": {"new": 51.60, "old": 50.60}}
01a20774-5906-8f4e-8000-008ffd8fc212	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 47	{"visits": {"new": 52.70, "old": 51.70}}
01a20774-5907-8205-8000-00ab88885f1a	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 48	{"visits": {"new": 53.80, "old": 52.80}}
01a20774-5907-84e7-8000-009b2efb2be0	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 49	{"visits": {"new": 54.90, "old": 53.90}}
01a20774-5907-87a3-8000-00830f4a45c8	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	é:/ 50	{"visits": {"new": 56.00, "old": 55.00}}
01a20774-5906-89b8-8000-008670743d57	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 45	{}
01a20774-5906-8c83-8000-008dfadeadbb	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 46	{}
01a20774-5906-8f4e-8000-008ffd8fc212	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 47	{}
01a20774-5907-8205-8000-00ab88885f1a	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 48	{}
01a20774-5907-84e7-8000-009b2efb2be0	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 49	{}
01a20774-5907-87a3-8000-00830f4a45c8	3	2026-11-23 08:09:55.144522+00	postgres	sql	delete	é:/ 50	{}
01a20774-5913-8b93-8000-00a13c30492f	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	text:1	{"name": {"new": "Running horses", "old": null}}
01a20774-5914-8063-8000-00b668609916	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	text:2	{"name": {"new": "The horse ran", "old": null}}
01a20774-5914-8247-8000-0097793f8947	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	text:3	{"name": {"new": "Straße nach Überlingen", "old": null}}
01a20774-5914-84ee-8000-009e17abd9e1	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	text:4	{"name": {"new": "part number 77-AB.9", "old": null}}
\.


--
-- Data for Name: history_3; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.history_3 (record_id, version, at, actor, source, operation, external_key, changes) FROM stdin;
01a20774-5944-8acd-8000-00f83250ea92	1	2026-11-23 08:09:55.144522+00	postgres	sql	create	a	{}
01a20774-5944-8acd-8000-00f83250ea92	2	2026-11-23 08:09:55.144522+00	postgres	sql	update	a	{"up": {"new": "01a20774-5944-8acd-8000-00f83250ea92", "old": null}}
\.


--
-- Data for Name: idempotency_full; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.idempotency_full (key_id, reached_at) FROM stdin;
\.


--
-- Data for Name: idempotent_request; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.idempotent_request (key_id, idempotency_key, fingerprint, answer, created_at) FROM stdin;
1	once	\\x2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881	{201,NULL,"{}"}	2026-11-23 08:09:55.144522+00
\.


--
-- Data for Name: inbound_delivery; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.inbound_delivery (id, endpoint_id, webhook_id, received_at, status, error, created, updated, payload) FROM stdin;
1	1	msg_0	2026-11-23 08:09:55.471719+00	failed	{"code": "forbidden"}	0	0	{"id": 0, "name": "late"}
\.


--
-- Data for Name: inbound_endpoint; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.inbound_endpoint (id, project_id, template_id, slug, role, items, external_key, key_prefix, mapping, secret, enabled, token_hash, created_at, created_by, updated_at, role_name, bound_in) FROM stdin;
1	1	2	shop	release_clerk	$	$.id	shop:	{"name": "$.name"}	\\x31f290f6bf06298aab4f08d43c3f082cf648a362da2da4b0	t	\\x641bad3827ba1c1779c11497f99b582f0f91ef40f3921a87d48fe2dfeb0f06c2	2026-11-23 08:09:55.452938+00	postgres	2026-11-23 08:09:55.452938+00	release_clerk	7711276167050436380/17128
\.


--
-- Data for Name: inbound_refused; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.inbound_refused (endpoint_id, deliveries, bytes) FROM stdin;
\.


--
-- Data for Name: job; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.job (id, template_id, kind, attribute_id, languages, "position", records_done, records, state, attempts, error, created_at, started_at, left_out, dropped) FROM stdin;
\.


--
-- Data for Name: metric_2; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.metric_2 (record_id, attribute_id, at, id, value) FROM stdin;
01a20774-58e3-812d-8000-00a6099666c6	4	2026-11-23 08:09:55.17077+00	1	1
01a20774-58e4-858b-8000-008291384665	4	2026-11-23 08:09:55.172325+00	2	2
01a20774-58ed-80d5-8000-0083ac7504c1	4	2026-11-23 08:09:55.181013+00	3	3
01a20774-58ed-86b1-8000-008b13319a4a	4	2026-11-23 08:09:55.181399+00	4	4
01a20774-58ed-8a6f-8000-00a6c0853583	4	2026-11-23 08:09:55.181635+00	5	5
01a20774-58ed-8ec3-8000-00a34b70784f	4	2026-11-23 08:09:55.181905+00	6	6
01a20774-58ee-829d-8000-009b642440d1	4	2026-11-23 08:09:55.182146+00	7	7
01a20774-58ee-8598-8000-008f8aecae44	4	2026-11-23 08:09:55.182332+00	8	8
01a20774-58ee-88a2-8000-00a1389401fb	4	2026-11-23 08:09:55.182523+00	9	9
01a20774-58ee-8b73-8000-009df10af4ca	4	2026-11-23 08:09:55.182699+00	10	10
01a20774-58ee-8e74-8000-009ec9b574d1	4	2026-11-23 08:09:55.182886+00	11	11
01a20774-58ef-8150-8000-00bdf46fae0f	4	2026-11-23 08:09:55.183066+00	12	12
01a20774-58ef-8454-8000-00b076e7ead3	4	2026-11-23 08:09:55.183255+00	13	13
01a20774-58ef-8715-8000-00aea28999f1	4	2026-11-23 08:09:55.183427+00	14	14
01a20774-58ef-8cf8-8000-00942fe459fa	4	2026-11-23 08:09:55.183793+00	15	15
01a20774-58ef-8fcd-8000-008c64ca9ce0	4	2026-11-23 08:09:55.183972+00	16	16
01a20774-58f0-8285-8000-00a293be5ace	4	2026-11-23 08:09:55.184142+00	17	17
01a20774-58f0-8540-8000-008093b99f75	4	2026-11-23 08:09:55.184311+00	18	18
01a20774-58f8-8edd-8000-009d7c5ae75f	4	2026-11-23 08:09:55.192884+00	19	19
01a20774-58f9-8478-8000-00ad626989ed	4	2026-11-23 08:09:55.193261+00	20	20
01a20774-58f9-878b-8000-00bf7258cd64	4	2026-11-23 08:09:55.193454+00	21	21
01a20774-58f9-8a70-8000-00884391e6d2	4	2026-11-23 08:09:55.193636+00	22	22
01a20774-58f9-8d84-8000-00aaaf567570	4	2026-11-23 08:09:55.193828+00	23	23
01a20774-58fa-805c-8000-00a0d931ad84	4	2026-11-23 08:09:55.194006+00	24	24
01a20774-58fa-8324-8000-00bf3d17dc47	4	2026-11-23 08:09:55.19418+00	25	25
01a20774-58fa-860f-8000-00891431b6b0	4	2026-11-23 08:09:55.194363+00	26	26
01a20774-58fa-88d4-8000-00a153fdd172	4	2026-11-23 08:09:55.194536+00	27	27
01a20774-58fa-8c44-8000-009d48517d15	4	2026-11-23 08:09:55.19475+00	28	28
01a20774-58fa-8f14-8000-00b4cfddcd53	4	2026-11-23 08:09:55.194926+00	29	29
01a20774-58fb-81fa-8000-00acfa2863de	4	2026-11-23 08:09:55.195107+00	30	30
01a20774-58fb-84c5-8000-00b8273f484d	4	2026-11-23 08:09:55.195281+00	31	31
01a20774-58fb-8789-8000-009df9c5bdd3	4	2026-11-23 08:09:55.195455+00	32	32
01a20774-58fb-8a41-8000-008b4fdfd8e6	4	2026-11-23 08:09:55.195625+00	33	33
01a20774-58fb-8d23-8000-00b8884fe28f	4	2026-11-23 08:09:55.195805+00	34	34
01a20774-58fb-8fda-8000-00903aa18f4a	4	2026-11-23 08:09:55.195975+00	35	35
01a20774-58fc-85cb-8000-0080cee6bfdc	4	2026-11-23 08:09:55.196345+00	36	36
01a20774-5904-8e7c-8000-0095f64329fd	4	2026-11-23 08:09:55.204867+00	37	37
01a20774-5905-83c1-8000-009c0462fd59	4	2026-11-23 08:09:55.205213+00	38	38
01a20774-5905-8708-8000-00bbf1f6de11	4	2026-11-23 08:09:55.205422+00	39	39
01a20774-5905-8a23-8000-00b302e8f552	4	2026-11-23 08:09:55.205617+00	40	40
01a20774-5905-8e50-8000-0088fcdcb5a7	4	2026-11-23 08:09:55.205876+00	41	41
01a20774-5906-813a-8000-008a0ceae186	4	2026-11-23 08:09:55.20606+00	42	42
01a20774-5906-840a-8000-0095f9965133	4	2026-11-23 08:09:55.206236+00	43	43
01a20774-5906-86d1-8000-00af182f5967	4	2026-11-23 08:09:55.20641+00	44	44
01a20774-5906-89b8-8000-008670743d57	4	2026-11-23 08:09:55.206592+00	45	45
01a20774-5906-8c83-8000-008dfadeadbb	4	2026-11-23 08:09:55.206765+00	46	46
01a20774-5906-8f4e-8000-008ffd8fc212	4	2026-11-23 08:09:55.206941+00	47	47
01a20774-5907-8205-8000-00ab88885f1a	4	2026-11-23 08:09:55.207111+00	48	48
01a20774-5907-84e7-8000-009b2efb2be0	4	2026-11-23 08:09:55.207291+00	49	49
01a20774-5907-87a3-8000-00830f4a45c8	4	2026-11-23 08:09:55.207461+00	50	50
\.


--
-- Data for Name: project; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.project (id, slug, name, created_at, time_zone) FROM stdin;
1	crm	Customers	2026-11-23 08:09:55.01313+00	\N
2	empty	Nothing in it	2026-11-23 08:09:55.144522+00	\N
\.


--
-- Data for Name: quota; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.quota (project_id, name, maximum, set_at, set_by) FROM stdin;
1	live_records	1000	2026-11-23 08:09:55.144522+00	postgres
1	writes_per_day	1000	2026-11-23 08:09:55.144522+00	postgres
\.


--
-- Data for Name: quota_slot; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.quota_slot (project_id, name, slot, used, allowed, is_over, day) FROM stdin;
1	live_records	0	52	66	f	infinity
1	live_records	1	0	14	f	infinity
1	live_records	2	0	14	f	infinity
1	live_records	3	0	14	f	infinity
1	live_records	4	0	14	f	infinity
1	live_records	5	0	14	f	infinity
1	live_records	6	0	14	f	infinity
1	live_records	7	0	14	f	infinity
1	live_records	8	0	14	f	infinity
1	live_records	9	0	14	f	infinity
1	live_records	10	0	14	f	infinity
1	live_records	11	0	14	f	infinity
1	live_records	12	0	14	f	infinity
1	live_records	13	0	14	f	infinity
1	live_records	14	0	14	f	infinity
1	live_records	15	0	14	f	infinity
1	live_records	16	0	14	f	infinity
1	live_records	17	0	14	f	infinity
1	live_records	18	0	14	f	infinity
1	live_records	19	0	14	f	infinity
1	live_records	20	0	14	f	infinity
1	live_records	21	0	14	f	infinity
1	live_records	22	0	14	f	infinity
1	live_records	23	0	14	f	infinity
1	live_records	24	0	14	f	infinity
1	live_records	25	0	14	f	infinity
1	live_records	26	0	14	f	infinity
1	live_records	27	0	14	f	infinity
1	live_records	28	0	14	f	infinity
1	live_records	29	0	14	f	infinity
1	live_records	30	0	14	f	infinity
1	live_records	31	0	14	f	infinity
1	live_records	32	0	14	f	infinity
1	live_records	33	0	14	f	infinity
1	live_records	34	0	14	f	infinity
1	live_records	35	0	14	f	infinity
1	live_records	36	0	14	f	infinity
1	live_records	37	0	14	f	infinity
1	live_records	38	0	14	f	infinity
1	live_records	39	0	14	f	infinity
1	live_records	40	0	14	f	infinity
1	live_records	41	0	14	f	infinity
1	live_records	42	0	14	f	infinity
1	live_records	43	0	14	f	infinity
1	live_records	44	0	14	f	infinity
1	live_records	45	0	14	f	infinity
1	live_records	46	0	14	f	infinity
1	live_records	47	0	14	f	infinity
1	live_records	48	0	14	f	infinity
1	live_records	49	0	14	f	infinity
1	live_records	50	0	14	f	infinity
1	live_records	51	0	14	f	infinity
1	live_records	52	0	14	f	infinity
1	live_records	53	0	14	f	infinity
1	live_records	54	0	14	f	infinity
1	live_records	55	0	14	f	infinity
1	live_records	56	0	14	f	infinity
1	live_records	57	0	14	f	infinity
1	live_records	58	0	14	f	infinity
1	live_records	59	0	14	f	infinity
1	live_records	60	0	14	f	infinity
1	live_records	61	0	14	f	infinity
1	live_records	62	0	14	f	infinity
1	live_records	63	0	14	f	infinity
1	writes_per_day	0	0	15	f	2026-11-23
1	writes_per_day	1	0	15	f	2026-11-23
1	writes_per_day	2	0	15	f	2026-11-23
1	writes_per_day	3	0	15	f	2026-11-23
1	writes_per_day	4	0	15	f	2026-11-23
1	writes_per_day	5	0	15	f	2026-11-23
1	writes_per_day	6	0	15	f	2026-11-23
1	writes_per_day	7	0	15	f	2026-11-23
1	writes_per_day	8	0	15	f	2026-11-23
1	writes_per_day	9	0	15	f	2026-11-23
1	writes_per_day	10	0	15	f	2026-11-23
1	writes_per_day	11	0	15	f	2026-11-23
1	writes_per_day	12	0	15	f	2026-11-23
1	writes_per_day	13	0	15	f	2026-11-23
1	writes_per_day	14	0	15	f	2026-11-23
1	writes_per_day	15	0	15	f	2026-11-23
1	writes_per_day	16	0	15	f	2026-11-23
1	writes_per_day	17	0	15	f	2026-11-23
1	writes_per_day	18	0	15	f	2026-11-23
1	writes_per_day	19	0	15	f	2026-11-23
1	writes_per_day	20	0	15	f	2026-11-23
1	writes_per_day	21	0	15	f	2026-11-23
1	writes_per_day	22	0	15	f	2026-11-23
1	writes_per_day	23	0	15	f	2026-11-23
1	writes_per_day	24	0	15	f	2026-11-23
1	writes_per_day	25	0	15	f	2026-11-23
1	writes_per_day	26	0	15	f	2026-11-23
1	writes_per_day	27	0	15	f	2026-11-23
1	writes_per_day	28	0	15	f	2026-11-23
1	writes_per_day	29	0	15	f	2026-11-23
1	writes_per_day	30	0	15	f	2026-11-23
1	writes_per_day	31	0	15	f	2026-11-23
1	writes_per_day	32	0	15	f	2026-11-23
1	writes_per_day	33	0	15	f	2026-11-23
1	writes_per_day	34	0	15	f	2026-11-23
1	writes_per_day	35	0	15	f	2026-11-23
1	writes_per_day	36	0	15	f	2026-11-23
1	writes_per_day	37	0	15	f	2026-11-23
1	writes_per_day	38	0	15	f	2026-11-23
1	writes_per_day	39	0	15	f	2026-11-23
1	writes_per_day	40	0	15	f	2026-11-23
1	writes_per_day	41	0	15	f	2026-11-23
1	writes_per_day	42	0	15	f	2026-11-23
1	writes_per_day	43	0	15	f	2026-11-23
1	writes_per_day	44	0	15	f	2026-11-23
1	writes_per_day	45	0	15	f	2026-11-23
1	writes_per_day	46	0	15	f	2026-11-23
1	writes_per_day	47	0	15	f	2026-11-23
1	writes_per_day	48	0	15	f	2026-11-23
1	writes_per_day	49	0	15	f	2026-11-23
1	writes_per_day	50	0	15	f	2026-11-23
1	writes_per_day	51	0	15	f	2026-11-23
1	writes_per_day	52	0	15	f	2026-11-23
1	writes_per_day	53	0	15	f	2026-11-23
1	writes_per_day	54	0	15	f	2026-11-23
1	writes_per_day	55	0	15	f	2026-11-23
1	writes_per_day	56	0	15	f	2026-11-23
1	writes_per_day	57	0	15	f	2026-11-23
1	writes_per_day	58	0	15	f	2026-11-23
1	writes_per_day	59	0	15	f	2026-11-23
1	writes_per_day	60	0	15	f	2026-11-23
1	writes_per_day	61	0	15	f	2026-11-23
1	writes_per_day	62	0	15	f	2026-11-23
1	writes_per_day	63	0	15	f	2026-11-23
\.


--
-- Data for Name: template; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.template (id, project_id, slug, label, display, language, created_at, updated_at, embed) FROM stdin;
1	1	companies	\N	\N	english	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.01313+00	\N
2	1	customers	Our customers	\N	english	2026-11-23 08:09:55.01313+00	2026-11-23 08:09:55.144522+00	{2,6}
3	1	tree	\N	\N	english	2026-11-23 08:09:55.144522+00	2026-11-23 08:09:55.144522+00	\N
\.


--
-- Data for Name: text_1; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.text_1 (record_id, document) FROM stdin;
01a20774-58d6-893c-8000-007b02e5e27e	 c-1 1-1C acmeACM
01a20774-58d8-86d8-8000-00598d63ba7e	 c-2 2-2C acmeACM
01a20774-58e0-8e2d-8000-0065fb9acbda	 c-3 3-3C acmeACM
\.


--
-- Data for Name: text_2; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.text_2 (record_id, document) FROM stdin;
01a20774-58e3-812d-8000-00a6099666c6	 e:/ 11E it's \\ "1 s 11 x y,{}XY gold cardCARDGOLD
01a20774-58e4-858b-8000-008291384665	 e:/ 22E it's \\ "2 s 22 x y,{}XY gold cardCARDGOLD
01a20774-58ed-80d5-8000-0083ac7504c1	 e:/ 33E it's \\ "3 s 33 x y,{}XY gold cardCARDGOLD
01a20774-58ed-86b1-8000-008b13319a4a	 e:/ 44E it's \\ "4 s 44 x y,{}XY gold cardCARDGOLD
01a20774-58ed-8a6f-8000-00a6c0853583	 e:/ 55E it's \\ "5 s 55 x y,{}XY gold cardCARDGOLD
01a20774-58ed-8ec3-8000-00a34b70784f	 e:/ 66E it's \\ "6 s 66 x y,{}XY gold cardCARDGOLD
01a20774-58ee-829d-8000-009b642440d1	 e:/ 77E it's \\ "7 s 77 x y,{}XY gold cardCARDGOLD
01a20774-58ee-8598-8000-008f8aecae44	 e:/ 88E it's \\ "8 s 88 x y,{}XY gold cardCARDGOLD
01a20774-58ee-88a2-8000-00a1389401fb	 e:/ 99E it's \\ "9 s 99 x y,{}XY gold cardCARDGOLD
01a20774-58ee-8b73-8000-009df10af4ca	 e:/ 1010E it's \\ "10 s 1010 x y,{}XY gold cardCARDGOLD
01a20774-58ee-8e74-8000-009ec9b574d1	 e:/ 1111E it's \\ "11 s 1111 x y,{}XY gold cardCARDGOLD
01a20774-58ef-8150-8000-00bdf46fae0f	 e:/ 1212E it's \\ "12 s 1212 x y,{}XY gold cardCARDGOLD
01a20774-58ef-8454-8000-00b076e7ead3	 e:/ 1313E it's \\ "13 s 1313 x y,{}XY gold cardCARDGOLD
01a20774-58ef-8715-8000-00aea28999f1	 e:/ 1414E it's \\ "14 s 1414 x y,{}XY gold cardCARDGOLD
01a20774-58ef-8cf8-8000-00942fe459fa	 e:/ 1515E it's \\ "15 s 1515 x y,{}XY gold cardCARDGOLD
01a20774-58ef-8fcd-8000-008c64ca9ce0	 e:/ 1616E it's \\ "16 s 1616 x y,{}XY gold cardCARDGOLD
01a20774-58f0-8285-8000-00a293be5ace	 e:/ 1717E it's \\ "17 s 1717 x y,{}XY gold cardCARDGOLD
01a20774-58f0-8540-8000-008093b99f75	 e:/ 1818E it's \\ "18 s 1818 x y,{}XY gold cardCARDGOLD
01a20774-58f8-8edd-8000-009d7c5ae75f	 e:/ 1919E it's \\ "19 s 1919 x y,{}XY gold cardCARDGOLD
01a20774-58f9-8478-8000-00ad626989ed	 e:/ 2020E it's \\ "20 s 2020 x y,{}XY gold cardCARDGOLD
01a20774-58f9-878b-8000-00bf7258cd64	 e:/ 2121E it's \\ "21 s 2121 x y,{}XY gold cardCARDGOLD
01a20774-58f9-8a70-8000-00884391e6d2	 e:/ 2222E it's \\ "22 s 2222 x y,{}XY gold cardCARDGOLD
01a20774-58f9-8d84-8000-00aaaf567570	 e:/ 2323E it's \\ "23 s 2323 x y,{}XY gold cardCARDGOLD
01a20774-58fa-805c-8000-00a0d931ad84	 e:/ 2424E it's \\ "24 s 2424 x y,{}XY gold cardCARDGOLD
01a20774-58fa-8324-8000-00bf3d17dc47	 e:/ 2525E it's \\ "25 s 2525 x y,{}XY gold cardCARDGOLD
01a20774-58fa-860f-8000-00891431b6b0	 e:/ 2626E it's \\ "26 s 2626 x y,{}XY gold cardCARDGOLD
01a20774-58fa-88d4-8000-00a153fdd172	 e:/ 2727E it's \\ "27 s 2727 x y,{}XY gold cardCARDGOLD
01a20774-58fa-8c44-8000-009d48517d15	 e:/ 2828E it's \\ "28 s 2828 x y,{}XY gold cardCARDGOLD
01a20774-58fa-8f14-8000-00b4cfddcd53	 e:/ 2929E it's \\ "29 s 2929 x y,{}XY gold cardCARDGOLD
01a20774-58fb-81fa-8000-00acfa2863de	 e:/ 3030E it's \\ "30 s 3030 x y,{}XY gold cardCARDGOLD
01a20774-58fb-84c5-8000-00b8273f484d	 e:/ 3131E it's \\ "31 s 3131 x y,{}XY gold cardCARDGOLD
01a20774-58fb-8789-8000-009df9c5bdd3	 e:/ 3232E it's \\ "32 s 3232 x y,{}XY gold cardCARDGOLD
01a20774-58fb-8a41-8000-008b4fdfd8e6	 e:/ 3333E it's \\ "33 s 3333 x y,{}XY gold cardCARDGOLD
01a20774-58fb-8d23-8000-00b8884fe28f	 e:/ 3434E it's \\ "34 s 3434 x y,{}XY gold cardCARDGOLD
01a20774-58fb-8fda-8000-00903aa18f4a	 e:/ 3535E it's \\ "35 s 3535 x y,{}XY gold cardCARDGOLD
01a20774-58fc-85cb-8000-0080cee6bfdc	 e:/ 3636E it's \\ "36 s 3636 x y,{}XY gold cardCARDGOLD
01a20774-5904-8e7c-8000-0095f64329fd	 e:/ 3737E it's \\ "37 s 3737 x y,{}XY gold cardCARDGOLD
01a20774-5905-83c1-8000-009c0462fd59	 e:/ 3838E it's \\ "38 s 3838 x y,{}XY gold cardCARDGOLD
01a20774-5905-8708-8000-00bbf1f6de11	 e:/ 3939E it's \\ "39 s 3939 x y,{}XY gold cardCARDGOLD
01a20774-5905-8a23-8000-00b302e8f552	 e:/ 4040E it's \\ "40 s 4040 x y,{}XY gold cardCARDGOLD
01a20774-5905-8e50-8000-0088fcdcb5a7	 e:/ 4141E it's \\ "41 s 4141 x y,{}XY gold cardCARDGOLD
01a20774-5906-813a-8000-008a0ceae186	 e:/ 4242E it's \\ "42 s 4242 x y,{}XY gold cardCARDGOLD
01a20774-5906-840a-8000-0095f9965133	 e:/ 4343E it's \\ "43 s 4343 x y,{}XY gold cardCARDGOLD
01a20774-5906-86d1-8000-00af182f5967	 e:/ 4444E it's \\ "44 s 4444 x y,{}XY gold cardCARDGOLD
01a20774-5913-8b93-8000-00a13c30492f	 text:1 11TEXT running horsesHORSRUN
01a20774-5914-8063-8000-00b668609916	 text:2 22TEXT the horse ranHORSRAN
01a20774-5914-8247-8000-0097793f8947	 text:3 33TEXT strasse nach uberlingenNACHSTRASSSTRASSEUBERLINGEN
01a20774-5914-84ee-8000-009e17abd9e1	 text:4 44TEXT part number 77-ab.9 ab 977AB.9NUMBERPART
\.


--
-- Data for Name: text_3; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.text_3 (record_id, document) FROM stdin;
01a20774-5944-8acd-8000-00f83250ea92	 a
\.


--
-- Data for Name: vector_1; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.vector_1 (record_id, embedding, live) FROM stdin;
\.


--
-- Data for Name: vector_2; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.vector_2 (record_id, embedding, live) FROM stdin;
01a20774-58e3-812d-8000-00a6099666c6	[0.9,0.4358899,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]	t
01a20774-58e4-858b-8000-008291384665	[0.5,0.8660254,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]	t
\.


--
-- Data for Name: vector_3; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.vector_3 (record_id, embedding, live) FROM stdin;
\.


--
-- Data for Name: version; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.version (number, applied_at) FROM stdin;
1	2026-11-23 08:09:54.586363+00
2	2026-11-23 08:09:54.586363+00
3	2026-11-23 08:09:54.586363+00
4	2026-11-23 08:09:54.586363+00
5	2026-11-23 08:09:54.586363+00
6	2026-11-23 08:09:54.586363+00
7	2026-11-23 08:09:54.586363+00
8	2026-11-23 08:09:54.586363+00
9	2026-11-23 08:09:54.586363+00
10	2026-11-23 08:09:54.586363+00
11	2026-11-23 08:09:54.586363+00
12	2026-11-23 08:09:54.586363+00
13	2026-11-23 08:09:54.586363+00
14	2026-11-23 08:09:54.586363+00
15	2026-11-23 08:09:54.586363+00
16	2026-11-23 08:09:54.586363+00
17	2026-11-23 08:09:54.586363+00
18	2026-11-23 08:09:54.586363+00
19	2026-11-23 08:09:54.586363+00
20	2026-11-23 08:09:54.586363+00
21	2026-11-23 08:09:54.586363+00
22	2026-11-23 08:09:54.586363+00
24	2026-11-23 08:09:54.586363+00
26	2026-11-23 08:09:54.586363+00
\.


--
-- Data for Name: view; Type: TABLE DATA; Schema: keyed_state; Owner: keyed_owner
--

COPY keyed_state.view (id, template_id, slug, label, query, definition, created_at, updated_at) FROM stdin;
1	2	golden	It's gold	{"sort": "-visits", "filters": [{"field": "tier", "value": "gold", "operator": "in"}, {"field": "company.name", "value": "ACME", "operator": "eq"}]}	select t.id, t.external_key, t.created_at, t.updated_at, t."name", t."visits", t."mood", t."tags", t."tier", t."born", t."seen", t."company", t."active" from "crm"."customers" t where t.deleted_at is null and (t."tier" && array['gold']::text[] and t."company" in (select r1.id from "crm"."companies" r1 where r1.deleted_at is null and r1."name" = 'ACME')) order by t."visits" desc nulls last, t.id desc	2026-11-23 08:09:55.431634+00	2026-11-23 08:09:55.431634+00
\.


--
-- Name: access_grant_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.access_grant_id_seq', 7, true);


--
-- Name: api_key_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.api_key_id_seq', 2, true);


--
-- Name: attribute_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.attribute_id_seq', 11, true);


--
-- Name: inbound_delivery_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.inbound_delivery_id_seq', 1, true);


--
-- Name: inbound_endpoint_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.inbound_endpoint_id_seq', 1, true);


--
-- Name: job_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.job_id_seq', 1, false);


--
-- Name: metric_2_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.metric_2_id_seq', 50, true);


--
-- Name: project_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.project_id_seq', 2, true);


--
-- Name: template_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.template_id_seq', 3, true);


--
-- Name: view_id_seq; Type: SEQUENCE SET; Schema: keyed_state; Owner: keyed_owner
--

SELECT pg_catalog.setval('keyed_state.view_id_seq', 1, true);


--
-- Name: companies companies_pkey; Type: CONSTRAINT; Schema: crm; Owner: keyed_owner
--

ALTER TABLE ONLY crm.companies
    ADD CONSTRAINT companies_pkey PRIMARY KEY (id);


--
-- Name: customers customers_pkey; Type: CONSTRAINT; Schema: crm; Owner: keyed_owner
--

ALTER TABLE ONLY crm.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);


--
-- Name: tree tree_pkey; Type: CONSTRAINT; Schema: crm; Owner: keyed_owner
--

ALTER TABLE ONLY crm.tree
    ADD CONSTRAINT tree_pkey PRIMARY KEY (id);


--
-- Name: access_grant access_grant_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.access_grant
    ADD CONSTRAINT access_grant_pkey PRIMARY KEY (id);


--
-- Name: access_grant access_grant_project_id_template_id_role_privilege_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.access_grant
    ADD CONSTRAINT access_grant_project_id_template_id_role_privilege_key UNIQUE NULLS NOT DISTINCT (project_id, template_id, role, privilege);


--
-- Name: api_key api_key_hash_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);


--
-- Name: api_key api_key_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);


--
-- Name: api_key_use api_key_use_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.api_key_use
    ADD CONSTRAINT api_key_use_pkey PRIMARY KEY (key_id);


--
-- Name: attribute attribute_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute
    ADD CONSTRAINT attribute_pkey PRIMARY KEY (id);


--
-- Name: attribute attribute_template_id_slug_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute
    ADD CONSTRAINT attribute_template_id_slug_key UNIQUE (template_id, slug);


--
-- Name: attribute_use attribute_use_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute_use
    ADD CONSTRAINT attribute_use_pkey PRIMARY KEY (attribute_id);


--
-- Name: embedding_job embedding_job_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.embedding_job
    ADD CONSTRAINT embedding_job_pkey PRIMARY KEY (record_id);


--
-- Name: history_1 history_1_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.history_1
    ADD CONSTRAINT history_1_pkey PRIMARY KEY (record_id, version);


--
-- Name: history_2 history_2_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.history_2
    ADD CONSTRAINT history_2_pkey PRIMARY KEY (record_id, version);


--
-- Name: history_3 history_3_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.history_3
    ADD CONSTRAINT history_3_pkey PRIMARY KEY (record_id, version);


--
-- Name: idempotency_full idempotency_full_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.idempotency_full
    ADD CONSTRAINT idempotency_full_pkey PRIMARY KEY (key_id);


--
-- Name: idempotent_request idempotent_request_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.idempotent_request
    ADD CONSTRAINT idempotent_request_pkey PRIMARY KEY (key_id, idempotency_key);


--
-- Name: inbound_delivery inbound_delivery_endpoint_id_webhook_id_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_delivery
    ADD CONSTRAINT inbound_delivery_endpoint_id_webhook_id_key UNIQUE (endpoint_id, webhook_id);


--
-- Name: inbound_delivery inbound_delivery_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_delivery
    ADD CONSTRAINT inbound_delivery_pkey PRIMARY KEY (id);


--
-- Name: inbound_endpoint inbound_endpoint_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_endpoint
    ADD CONSTRAINT inbound_endpoint_pkey PRIMARY KEY (id);


--
-- Name: inbound_endpoint inbound_endpoint_project_id_slug_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_endpoint
    ADD CONSTRAINT inbound_endpoint_project_id_slug_key UNIQUE (project_id, slug);


--
-- Name: inbound_endpoint inbound_endpoint_token_hash_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_endpoint
    ADD CONSTRAINT inbound_endpoint_token_hash_key UNIQUE (token_hash);


--
-- Name: inbound_refused inbound_refused_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_refused
    ADD CONSTRAINT inbound_refused_pkey PRIMARY KEY (endpoint_id);


--
-- Name: job job_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);


--
-- Name: job job_template_id_kind_attribute_id_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.job
    ADD CONSTRAINT job_template_id_kind_attribute_id_key UNIQUE NULLS NOT DISTINCT (template_id, kind, attribute_id);


--
-- Name: metric_2 metric_2_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.metric_2
    ADD CONSTRAINT metric_2_pkey PRIMARY KEY (record_id, attribute_id, at, id);


--
-- Name: project project_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);


--
-- Name: project project_slug_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.project
    ADD CONSTRAINT project_slug_key UNIQUE (slug);


--
-- Name: quota quota_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.quota
    ADD CONSTRAINT quota_pkey PRIMARY KEY (project_id, name);


--
-- Name: quota_slot quota_slot_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.quota_slot
    ADD CONSTRAINT quota_slot_pkey PRIMARY KEY (project_id, name, slot);


--
-- Name: template template_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.template
    ADD CONSTRAINT template_pkey PRIMARY KEY (id);


--
-- Name: template template_project_id_slug_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.template
    ADD CONSTRAINT template_project_id_slug_key UNIQUE (project_id, slug);


--
-- Name: text_1 text_1_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.text_1
    ADD CONSTRAINT text_1_pkey PRIMARY KEY (record_id);


--
-- Name: text_2 text_2_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.text_2
    ADD CONSTRAINT text_2_pkey PRIMARY KEY (record_id);


--
-- Name: text_3 text_3_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.text_3
    ADD CONSTRAINT text_3_pkey PRIMARY KEY (record_id);


--
-- Name: vector_1 vector_1_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.vector_1
    ADD CONSTRAINT vector_1_pkey PRIMARY KEY (record_id);


--
-- Name: vector_2 vector_2_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.vector_2
    ADD CONSTRAINT vector_2_pkey PRIMARY KEY (record_id);


--
-- Name: vector_3 vector_3_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.vector_3
    ADD CONSTRAINT vector_3_pkey PRIMARY KEY (record_id);


--
-- Name: version version_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.version
    ADD CONSTRAINT version_pkey PRIMARY KEY (number);


--
-- Name: view view_pkey; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.view
    ADD CONSTRAINT view_pkey PRIMARY KEY (id);


--
-- Name: view view_template_id_slug_key; Type: CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.view
    ADD CONSTRAINT view_template_id_slug_key UNIQUE (template_id, slug);


--
-- Name: companies_deleted_at_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE INDEX companies_deleted_at_idx ON crm.companies USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


--
-- Name: companies_external_key_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE UNIQUE INDEX companies_external_key_idx ON crm.companies USING btree (external_key) WHERE (NOT false);


--
-- Name: customers_company_id_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE INDEX customers_company_id_idx ON crm.customers USING btree (company, id);


--
-- Name: customers_deleted_at_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE INDEX customers_deleted_at_idx ON crm.customers USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


--
-- Name: customers_external_key_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE UNIQUE INDEX customers_external_key_idx ON crm.customers USING btree (external_key) WHERE (NOT false);


--
-- Name: tree_deleted_at_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE INDEX tree_deleted_at_idx ON crm.tree USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


--
-- Name: tree_external_key_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE UNIQUE INDEX tree_external_key_idx ON crm.tree USING btree (external_key) WHERE (NOT false);


--
-- Name: tree_up_id_idx; Type: INDEX; Schema: crm; Owner: keyed_owner
--

CREATE INDEX tree_up_id_idx ON crm.tree USING btree (up, id);


--
-- Name: access_grant_template_id_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX access_grant_template_id_idx ON keyed_state.access_grant USING btree (template_id) WHERE (template_id IS NOT NULL);


--
-- Name: attribute_target_id_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX attribute_target_id_idx ON keyed_state.attribute USING btree (target_id) WHERE (target_id IS NOT NULL);


--
-- Name: embedding_job_claim_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX embedding_job_claim_idx ON keyed_state.embedding_job USING btree (claim) WHERE (claim IS NOT NULL);


--
-- Name: embedding_job_template_id_due_at_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX embedding_job_template_id_due_at_idx ON keyed_state.embedding_job USING btree (template_id, due_at) WHERE (state = ANY (ARRAY['pending'::text, 'running'::text]));


--
-- Name: embedding_job_template_id_state_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX embedding_job_template_id_state_idx ON keyed_state.embedding_job USING btree (template_id, state);


--
-- Name: idempotent_request_created_at_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX idempotent_request_created_at_idx ON keyed_state.idempotent_request USING btree (created_at);


--
-- Name: inbound_delivery_endpoint_id_id_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX inbound_delivery_endpoint_id_id_idx ON keyed_state.inbound_delivery USING btree (endpoint_id, id);


--
-- Name: inbound_delivery_endpoint_id_id_idx1; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX inbound_delivery_endpoint_id_id_idx1 ON keyed_state.inbound_delivery USING btree (endpoint_id, id) WHERE (status = 'failed'::text);


--
-- Name: inbound_delivery_endpoint_id_id_idx2; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX inbound_delivery_endpoint_id_id_idx2 ON keyed_state.inbound_delivery USING btree (endpoint_id, id) WHERE ((status = 'done'::text) AND (payload IS NOT NULL));


--
-- Name: inbound_endpoint_template_id_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX inbound_endpoint_template_id_idx ON keyed_state.inbound_endpoint USING btree (template_id);


--
-- Name: job_attribute_id_idx; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX job_attribute_id_idx ON keyed_state.job USING btree (attribute_id) WHERE (attribute_id IS NOT NULL);


--
-- Name: text_1_trigram; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX text_1_trigram ON keyed_state.text_1 USING gin (document keyed.document_trigrams);


--
-- Name: text_2_trigram; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX text_2_trigram ON keyed_state.text_2 USING gin (document keyed.document_trigrams);


--
-- Name: text_3_trigram; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX text_3_trigram ON keyed_state.text_3 USING gin (document keyed.document_trigrams);


--
-- Name: vector_1_hnsw; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX vector_1_hnsw ON keyed_state.vector_1 USING hnsw (((embedding)::public.halfvec(768)) public.halfvec_cosine_ops) WITH (m='24', ef_construction='100') WHERE live;


--
-- Name: vector_2_hnsw; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX vector_2_hnsw ON keyed_state.vector_2 USING hnsw (((embedding)::public.halfvec(768)) public.halfvec_cosine_ops) WITH (m='24', ef_construction='100') WHERE live;


--
-- Name: vector_3_hnsw; Type: INDEX; Schema: keyed_state; Owner: keyed_owner
--

CREATE INDEX vector_3_hnsw ON keyed_state.vector_3 USING hnsw (((embedding)::public.halfvec(768)) public.halfvec_cosine_ops) WITH (m='24', ef_construction='100') WHERE live;


--
-- Name: companies keyed_guard; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard BEFORE INSERT OR DELETE OR UPDATE ON crm.companies FOR EACH ROW EXECUTE FUNCTION keyed.guard_record();


--
-- Name: customers keyed_guard; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard BEFORE INSERT OR DELETE OR UPDATE ON crm.customers FOR EACH ROW EXECUTE FUNCTION keyed.guard_record();


--
-- Name: tree keyed_guard; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard BEFORE INSERT OR DELETE OR UPDATE ON crm.tree FOR EACH ROW EXECUTE FUNCTION keyed.guard_record();


--
-- Name: companies keyed_guard_delete; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_delete BEFORE DELETE ON crm.companies FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_delete();


--
-- Name: customers keyed_guard_delete; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_delete BEFORE DELETE ON crm.customers FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_delete();


--
-- Name: tree keyed_guard_delete; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_delete BEFORE DELETE ON crm.tree FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_delete();


--
-- Name: companies keyed_guard_truncate; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_truncate BEFORE TRUNCATE ON crm.companies FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_truncate();


--
-- Name: customers keyed_guard_truncate; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_truncate BEFORE TRUNCATE ON crm.customers FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_truncate();


--
-- Name: tree keyed_guard_truncate; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_guard_truncate BEFORE TRUNCATE ON crm.tree FOR EACH STATEMENT EXECUTE FUNCTION keyed.guard_truncate();


--
-- Name: companies keyed_note_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_note_history AFTER INSERT OR DELETE OR UPDATE ON crm.companies FOR EACH ROW EXECUTE FUNCTION keyed.note_history();


--
-- Name: customers keyed_note_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_note_history AFTER INSERT OR DELETE OR UPDATE ON crm.customers FOR EACH ROW EXECUTE FUNCTION keyed.note_history();


--
-- Name: tree keyed_note_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_note_history AFTER INSERT OR DELETE OR UPDATE ON crm.tree FOR EACH ROW EXECUTE FUNCTION keyed.note_history();


--
-- Name: companies keyed_write_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_write_history AFTER INSERT OR DELETE OR UPDATE ON crm.companies FOR EACH STATEMENT EXECUTE FUNCTION keyed.write_history();


--
-- Name: customers keyed_write_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_write_history AFTER INSERT OR DELETE OR UPDATE ON crm.customers FOR EACH STATEMENT EXECUTE FUNCTION keyed.write_history();


--
-- Name: tree keyed_write_history; Type: TRIGGER; Schema: crm; Owner: keyed_owner
--

CREATE TRIGGER keyed_write_history AFTER INSERT OR DELETE OR UPDATE ON crm.tree FOR EACH STATEMENT EXECUTE FUNCTION keyed.write_history();


--
-- Name: access_grant keyed_announce; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON keyed_state.access_grant FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();


--
-- Name: api_key keyed_announce; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON keyed_state.api_key FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();


--
-- Name: project keyed_announce; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON keyed_state.project FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();


--
-- Name: quota keyed_announce; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON keyed_state.quota FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();


--
-- Name: access_grant keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.access_grant FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.access_grant ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: api_key keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.api_key FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.api_key ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: attribute keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.attribute FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.attribute ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: project keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.project FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.project ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: quota keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.quota FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.quota ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: template keyed_announce_end; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_end AFTER TRUNCATE ON keyed_state.template FOR EACH STATEMENT EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.template ENABLE REPLICA TRIGGER keyed_announce_end;


--
-- Name: access_grant keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.access_grant FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.access_grant ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: api_key keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.api_key FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.api_key ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: attribute keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.attribute FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.attribute ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: project keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.project FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.project ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: quota keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.quota FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.quota ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: template keyed_announce_row; Type: TRIGGER; Schema: keyed_state; Owner: keyed_owner
--

CREATE TRIGGER keyed_announce_row AFTER INSERT OR DELETE OR UPDATE ON keyed_state.template FOR EACH ROW EXECUTE FUNCTION keyed.announce_change();

ALTER TABLE keyed_state.template ENABLE REPLICA TRIGGER keyed_announce_row;


--
-- Name: customers customers_company_fkey; Type: FK CONSTRAINT; Schema: crm; Owner: keyed_owner
--

ALTER TABLE ONLY crm.customers
    ADD CONSTRAINT customers_company_fkey FOREIGN KEY (company) REFERENCES crm.companies(id);


--
-- Name: tree tree_up_fkey; Type: FK CONSTRAINT; Schema: crm; Owner: keyed_owner
--

ALTER TABLE ONLY crm.tree
    ADD CONSTRAINT tree_up_fkey FOREIGN KEY (up) REFERENCES crm.tree(id);


--
-- Name: access_grant access_grant_project_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.access_grant
    ADD CONSTRAINT access_grant_project_id_fkey FOREIGN KEY (project_id) REFERENCES keyed_state.project(id) ON DELETE CASCADE;


--
-- Name: access_grant access_grant_template_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.access_grant
    ADD CONSTRAINT access_grant_template_id_fkey FOREIGN KEY (template_id) REFERENCES keyed_state.template(id) ON DELETE CASCADE;


--
-- Name: api_key_use api_key_use_key_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.api_key_use
    ADD CONSTRAINT api_key_use_key_id_fkey FOREIGN KEY (key_id) REFERENCES keyed_state.api_key(id) ON DELETE CASCADE;


--
-- Name: attribute attribute_target_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute
    ADD CONSTRAINT attribute_target_id_fkey FOREIGN KEY (target_id) REFERENCES keyed_state.template(id);


--
-- Name: attribute attribute_template_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute
    ADD CONSTRAINT attribute_template_id_fkey FOREIGN KEY (template_id) REFERENCES keyed_state.template(id) ON DELETE CASCADE;


--
-- Name: attribute_use attribute_use_attribute_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.attribute_use
    ADD CONSTRAINT attribute_use_attribute_id_fkey FOREIGN KEY (attribute_id) REFERENCES keyed_state.attribute(id) ON DELETE CASCADE;


--
-- Name: inbound_delivery inbound_delivery_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_delivery
    ADD CONSTRAINT inbound_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES keyed_state.inbound_endpoint(id) ON DELETE CASCADE;


--
-- Name: inbound_endpoint inbound_endpoint_project_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_endpoint
    ADD CONSTRAINT inbound_endpoint_project_id_fkey FOREIGN KEY (project_id) REFERENCES keyed_state.project(id) ON DELETE CASCADE;


--
-- Name: inbound_endpoint inbound_endpoint_template_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_endpoint
    ADD CONSTRAINT inbound_endpoint_template_id_fkey FOREIGN KEY (template_id) REFERENCES keyed_state.template(id) ON DELETE CASCADE;


--
-- Name: inbound_refused inbound_refused_endpoint_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.inbound_refused
    ADD CONSTRAINT inbound_refused_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES keyed_state.inbound_endpoint(id) ON DELETE CASCADE;


--
-- Name: job job_attribute_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.job
    ADD CONSTRAINT job_attribute_id_fkey FOREIGN KEY (attribute_id) REFERENCES keyed_state.attribute(id) ON DELETE CASCADE;


--
-- Name: job job_template_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.job
    ADD CONSTRAINT job_template_id_fkey FOREIGN KEY (template_id) REFERENCES keyed_state.template(id) ON DELETE CASCADE;


--
-- Name: quota quota_project_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.quota
    ADD CONSTRAINT quota_project_id_fkey FOREIGN KEY (project_id) REFERENCES keyed_state.project(id) ON DELETE CASCADE;


--
-- Name: quota_slot quota_slot_project_id_name_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.quota_slot
    ADD CONSTRAINT quota_slot_project_id_name_fkey FOREIGN KEY (project_id, name) REFERENCES keyed_state.quota(project_id, name) ON DELETE CASCADE;


--
-- Name: template template_project_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.template
    ADD CONSTRAINT template_project_id_fkey FOREIGN KEY (project_id) REFERENCES keyed_state.project(id);


--
-- Name: view view_template_id_fkey; Type: FK CONSTRAINT; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE ONLY keyed_state.view
    ADD CONSTRAINT view_template_id_fkey FOREIGN KEY (template_id) REFERENCES keyed_state.template(id) ON DELETE CASCADE;


--
-- Name: companies; Type: ROW SECURITY; Schema: crm; Owner: keyed_owner
--

ALTER TABLE crm.companies ENABLE ROW LEVEL SECURITY;

--
-- Name: customers; Type: ROW SECURITY; Schema: crm; Owner: keyed_owner
--

ALTER TABLE crm.customers ENABLE ROW LEVEL SECURITY;

--
-- Name: companies keyed_admin; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON crm.companies TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: customers keyed_admin; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON crm.customers TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: tree keyed_admin; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON crm.tree TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: customers keyed_create_2; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_create_2 ON crm.customers FOR INSERT TO release_clerk WITH CHECK ((keyed.is_granted(2) AND true));


--
-- Name: customers keyed_delete_6; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_delete_6 ON crm.customers FOR UPDATE TO release_partner USING ((keyed.is_granted(6) AND (deleted_at IS NULL) AND ((company IN ( SELECT keyed_scope.grant_6_2_0() AS grant_6_2_0)) OR (company IN ( SELECT keyed_scope.grant_6_2_1() AS grant_6_2_1))))) WITH CHECK ((keyed.is_granted(6) AND (deleted_at IS NOT NULL) AND ((company IN ( SELECT keyed_scope.grant_6_2_0() AS grant_6_2_0)) OR (company IN ( SELECT keyed_scope.grant_6_2_1() AS grant_6_2_1)))));


--
-- Name: customers keyed_delete_6_seen; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_delete_6_seen ON crm.customers FOR SELECT TO release_partner USING (((deleted_at = now()) AND keyed.is_being_deleted(id)));


--
-- Name: customers keyed_read_1; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_read_1 ON crm.customers FOR SELECT TO release_clerk USING ((keyed.is_granted(1) AND (deleted_at IS NULL) AND true));


--
-- Name: customers keyed_read_4; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_read_4 ON crm.customers FOR SELECT TO release_partner USING ((keyed.is_granted(4) AND (deleted_at IS NULL) AND ((company IN ( SELECT keyed_scope.grant_4_2_0() AS grant_4_2_0)) OR (company IN ( SELECT keyed_scope.grant_4_2_1() AS grant_4_2_1)))));


--
-- Name: companies keyed_read_7; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_read_7 ON crm.companies FOR SELECT TO release_partner USING ((keyed.is_granted(7) AND (deleted_at IS NULL) AND (external_key ~~ '%C-%'::text)));


--
-- Name: customers keyed_read_7; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_read_7 ON crm.customers FOR SELECT TO release_partner USING ((keyed.is_granted(7) AND (deleted_at IS NULL) AND (external_key ~~ '%C-%'::text)));


--
-- Name: tree keyed_read_7; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_read_7 ON crm.tree FOR SELECT TO release_partner USING ((keyed.is_granted(7) AND (deleted_at IS NULL) AND (external_key ~~ '%C-%'::text)));


--
-- Name: customers keyed_update_3; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_update_3 ON crm.customers FOR UPDATE TO release_clerk USING ((keyed.is_granted(3) AND (deleted_at IS NULL) AND true)) WITH CHECK ((keyed.is_granted(3) AND (deleted_at IS NULL) AND true));


--
-- Name: customers keyed_update_5; Type: POLICY; Schema: crm; Owner: keyed_owner
--

CREATE POLICY keyed_update_5 ON crm.customers FOR UPDATE TO release_partner USING ((keyed.is_granted(5) AND (deleted_at IS NULL) AND ((company IN ( SELECT keyed_scope.grant_5_2_0() AS grant_5_2_0)) OR (company IN ( SELECT keyed_scope.grant_5_2_1() AS grant_5_2_1))))) WITH CHECK ((keyed.is_granted(5) AND (deleted_at IS NULL) AND ((company IN ( SELECT keyed_scope.grant_5_2_0() AS grant_5_2_0)) OR (company IN ( SELECT keyed_scope.grant_5_2_1() AS grant_5_2_1)))));


--
-- Name: tree; Type: ROW SECURITY; Schema: crm; Owner: keyed_owner
--

ALTER TABLE crm.tree ENABLE ROW LEVEL SECURITY;

--
-- Name: access_grant; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.access_grant ENABLE ROW LEVEL SECURITY;

--
-- Name: api_key; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.api_key ENABLE ROW LEVEL SECURITY;

--
-- Name: api_key_use; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.api_key_use ENABLE ROW LEVEL SECURITY;

--
-- Name: attribute; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.attribute ENABLE ROW LEVEL SECURITY;

--
-- Name: attribute_use; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.attribute_use ENABLE ROW LEVEL SECURITY;

--
-- Name: embedding_job; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.embedding_job ENABLE ROW LEVEL SECURITY;

--
-- Name: history_1; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.history_1 ENABLE ROW LEVEL SECURITY;

--
-- Name: history_2; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.history_2 ENABLE ROW LEVEL SECURITY;

--
-- Name: history_3; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.history_3 ENABLE ROW LEVEL SECURITY;

--
-- Name: idempotency_full; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.idempotency_full ENABLE ROW LEVEL SECURITY;

--
-- Name: idempotent_request; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.idempotent_request ENABLE ROW LEVEL SECURITY;

--
-- Name: inbound_delivery; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.inbound_delivery ENABLE ROW LEVEL SECURITY;

--
-- Name: inbound_endpoint; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.inbound_endpoint ENABLE ROW LEVEL SECURITY;

--
-- Name: inbound_refused; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.inbound_refused ENABLE ROW LEVEL SECURITY;

--
-- Name: job; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.job ENABLE ROW LEVEL SECURITY;

--
-- Name: access_grant keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.access_grant FOR SELECT TO keyed_admin USING (true);


--
-- Name: api_key keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.api_key FOR SELECT TO keyed_admin USING (true);


--
-- Name: api_key_use keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.api_key_use FOR SELECT TO keyed_admin USING (true);


--
-- Name: attribute keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.attribute FOR SELECT TO keyed_admin USING (true);


--
-- Name: attribute_use keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.attribute_use FOR SELECT TO keyed_admin USING (true);


--
-- Name: embedding_job keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.embedding_job FOR SELECT TO keyed_admin USING (true);


--
-- Name: history_1 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.history_1 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: history_2 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.history_2 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: history_3 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.history_3 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: idempotency_full keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.idempotency_full FOR SELECT TO keyed_admin USING (true);


--
-- Name: idempotent_request keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.idempotent_request FOR SELECT TO keyed_admin USING (true);


--
-- Name: inbound_delivery keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.inbound_delivery FOR SELECT TO keyed_admin USING (true);


--
-- Name: inbound_endpoint keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.inbound_endpoint FOR SELECT TO keyed_admin USING (true);


--
-- Name: inbound_refused keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.inbound_refused FOR SELECT TO keyed_admin USING (true);


--
-- Name: job keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.job FOR SELECT TO keyed_admin USING (true);


--
-- Name: metric_2 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.metric_2 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: project keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.project FOR SELECT TO keyed_admin USING (true);


--
-- Name: quota keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.quota FOR SELECT TO keyed_admin USING (true);


--
-- Name: quota_slot keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.quota_slot FOR SELECT TO keyed_admin USING (true);


--
-- Name: template keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.template FOR SELECT TO keyed_admin USING (true);


--
-- Name: text_1 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.text_1 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: text_2 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.text_2 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: text_3 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.text_3 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: vector_1 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.vector_1 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: vector_2 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.vector_2 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: vector_3 keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.vector_3 TO keyed_admin USING (true) WITH CHECK (true);


--
-- Name: version keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.version FOR SELECT TO keyed_admin USING (true);


--
-- Name: view keyed_admin; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_admin ON keyed_state.view FOR SELECT TO keyed_admin USING (true);


--
-- Name: history_1 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.history_1 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.companies r
  WHERE (r.id = history_1.record_id))));


--
-- Name: history_2 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.history_2 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.customers r
  WHERE (r.id = history_2.record_id))));


--
-- Name: history_3 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.history_3 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.tree r
  WHERE (r.id = history_3.record_id))));


--
-- Name: metric_2 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.metric_2 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.customers r
  WHERE (r.id = metric_2.record_id))));


--
-- Name: text_1 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.text_1 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.companies r
  WHERE (r.id = text_1.record_id))));


--
-- Name: text_2 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.text_2 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.customers r
  WHERE (r.id = text_2.record_id))));


--
-- Name: text_3 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.text_3 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.tree r
  WHERE (r.id = text_3.record_id))));


--
-- Name: vector_1 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.vector_1 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.companies r
  WHERE (r.id = vector_1.record_id))));


--
-- Name: vector_2 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.vector_2 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.customers r
  WHERE (r.id = vector_2.record_id))));


--
-- Name: vector_3 keyed_record; Type: POLICY; Schema: keyed_state; Owner: keyed_owner
--

CREATE POLICY keyed_record ON keyed_state.vector_3 FOR SELECT USING ((EXISTS ( SELECT
   FROM crm.tree r
  WHERE (r.id = vector_3.record_id))));


--
-- Name: metric_2; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.metric_2 ENABLE ROW LEVEL SECURITY;

--
-- Name: project; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.project ENABLE ROW LEVEL SECURITY;

--
-- Name: quota; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.quota ENABLE ROW LEVEL SECURITY;

--
-- Name: quota_slot; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.quota_slot ENABLE ROW LEVEL SECURITY;

--
-- Name: template; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.template ENABLE ROW LEVEL SECURITY;

--
-- Name: text_1; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.text_1 ENABLE ROW LEVEL SECURITY;

--
-- Name: text_2; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.text_2 ENABLE ROW LEVEL SECURITY;

--
-- Name: text_3; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.text_3 ENABLE ROW LEVEL SECURITY;

--
-- Name: vector_1; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.vector_1 ENABLE ROW LEVEL SECURITY;

--
-- Name: vector_2; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.vector_2 ENABLE ROW LEVEL SECURITY;

--
-- Name: vector_3; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.vector_3 ENABLE ROW LEVEL SECURITY;

--
-- Name: version; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.version ENABLE ROW LEVEL SECURITY;

--
-- Name: view; Type: ROW SECURITY; Schema: keyed_state; Owner: keyed_owner
--

ALTER TABLE keyed_state.view ENABLE ROW LEVEL SECURITY;

--
-- Name: SCHEMA crm; Type: ACL; Schema: -; Owner: keyed_owner
--

GRANT USAGE ON SCHEMA crm TO keyed_admin;
GRANT USAGE ON SCHEMA crm TO release_clerk;
GRANT USAGE ON SCHEMA crm TO release_partner;


--
-- Name: SCHEMA empty; Type: ACL; Schema: -; Owner: keyed_owner
--

GRANT USAGE ON SCHEMA empty TO keyed_admin;


--
-- Name: SCHEMA keyed_state; Type: ACL; Schema: -; Owner: keyed_owner
--

GRANT USAGE ON SCHEMA keyed_state TO keyed_admin;


--
-- Name: FUNCTION authenticate(key_hash bytea, project text, source text); Type: ACL; Schema: keyed; Owner: postgres
--

GRANT ALL ON FUNCTION keyed.authenticate(key_hash bytea, project text, source text) TO keyed_proxy;


--
-- Name: FUNCTION deliver(token_hash bytea, webhook_id text, webhook_timestamp text, webhook_signature text, body text); Type: ACL; Schema: keyed_http; Owner: postgres
--

GRANT ALL ON FUNCTION keyed_http.deliver(token_hash bytea, webhook_id text, webhook_timestamp text, webhook_signature text, body text) TO keyed_proxy;


--
-- Name: FUNCTION knows_delivery_token(token_hash bytea); Type: ACL; Schema: keyed_http; Owner: postgres
--

GRANT ALL ON FUNCTION keyed_http.knows_delivery_token(token_hash bytea) TO keyed_proxy;


--
-- Name: TABLE companies; Type: ACL; Schema: crm; Owner: keyed_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE crm.companies TO keyed_admin;
GRANT SELECT ON TABLE crm.companies TO release_partner;


--
-- Name: FUNCTION grant_4_2_0(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_4_2_0() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_4_2_0() TO release_partner;


--
-- Name: FUNCTION grant_4_2_1(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_4_2_1() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_4_2_1() TO release_partner;


--
-- Name: FUNCTION grant_5_2_0(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_5_2_0() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_5_2_0() TO release_partner;


--
-- Name: FUNCTION grant_5_2_1(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_5_2_1() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_5_2_1() TO release_partner;


--
-- Name: FUNCTION grant_6_2_0(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_6_2_0() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_6_2_0() TO release_partner;


--
-- Name: FUNCTION grant_6_2_1(); Type: ACL; Schema: keyed_scope; Owner: keyed_owner
--

REVOKE ALL ON FUNCTION keyed_scope.grant_6_2_1() FROM PUBLIC;
GRANT ALL ON FUNCTION keyed_scope.grant_6_2_1() TO release_partner;


--
-- Name: TABLE customers; Type: ACL; Schema: crm; Owner: keyed_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE crm.customers TO keyed_admin;
GRANT SELECT,INSERT,UPDATE ON TABLE crm.customers TO release_clerk;
GRANT SELECT,DELETE,UPDATE ON TABLE crm.customers TO release_partner;


--
-- Name: COLUMN customers.deleted_at; Type: ACL; Schema: crm; Owner: keyed_owner
--

GRANT UPDATE(deleted_at) ON TABLE crm.customers TO release_partner;


--
-- Name: TABLE customers__golden; Type: ACL; Schema: crm; Owner: keyed_owner
--

GRANT SELECT ON TABLE crm.customers__golden TO keyed_admin;
GRANT SELECT ON TABLE crm.customers__golden TO release_partner;
GRANT SELECT ON TABLE crm.customers__golden TO release_clerk;


--
-- Name: TABLE tree; Type: ACL; Schema: crm; Owner: keyed_owner
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE crm.tree TO keyed_admin;
GRANT SELECT ON TABLE crm.tree TO release_partner;


--
-- Name: TABLE access_grant; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.access_grant TO keyed_admin;


--
-- Name: COLUMN api_key.id; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(id) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.role; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(role) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.projects; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(projects) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.label; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(label) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.created_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(created_at) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.created_by; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(created_by) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.expires_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(expires_at) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.revoked_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(revoked_at) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.role_name; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(role_name) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: COLUMN api_key.bound_in; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(bound_in) ON TABLE keyed_state.api_key TO keyed_admin;


--
-- Name: TABLE api_key_use; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.api_key_use TO keyed_admin;


--
-- Name: TABLE attribute; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.attribute TO keyed_admin;


--
-- Name: TABLE attribute_use; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.attribute_use TO keyed_admin;


--
-- Name: TABLE embedding_job; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.embedding_job TO keyed_admin;


--
-- Name: TABLE history_1; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.history_1 TO keyed_admin;


--
-- Name: TABLE history_2; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.history_2 TO keyed_admin;


--
-- Name: TABLE history_3; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.history_3 TO keyed_admin;


--
-- Name: TABLE idempotency_full; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.idempotency_full TO keyed_admin;


--
-- Name: COLUMN idempotent_request.key_id; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(key_id) ON TABLE keyed_state.idempotent_request TO keyed_admin;


--
-- Name: COLUMN idempotent_request.idempotency_key; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(idempotency_key) ON TABLE keyed_state.idempotent_request TO keyed_admin;


--
-- Name: COLUMN idempotent_request.created_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(created_at) ON TABLE keyed_state.idempotent_request TO keyed_admin;


--
-- Name: TABLE inbound_delivery; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.inbound_delivery TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.id; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(id) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.project_id; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(project_id) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.template_id; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(template_id) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.slug; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(slug) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.role; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(role) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.items; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(items) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.external_key; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(external_key) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.key_prefix; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(key_prefix) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.mapping; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(mapping) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.enabled; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(enabled) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.created_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(created_at) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.created_by; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(created_by) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.updated_at; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(updated_at) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.role_name; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(role_name) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: COLUMN inbound_endpoint.bound_in; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT(bound_in) ON TABLE keyed_state.inbound_endpoint TO keyed_admin;


--
-- Name: TABLE inbound_refused; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.inbound_refused TO keyed_admin;


--
-- Name: TABLE job; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.job TO keyed_admin;


--
-- Name: TABLE metric_2; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.metric_2 TO keyed_admin;


--
-- Name: TABLE project; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.project TO keyed_admin;


--
-- Name: TABLE quota; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.quota TO keyed_admin;


--
-- Name: TABLE quota_slot; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.quota_slot TO keyed_admin;


--
-- Name: TABLE template; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.template TO keyed_admin;


--
-- Name: TABLE view; Type: ACL; Schema: keyed_state; Owner: keyed_owner
--

GRANT SELECT ON TABLE keyed_state.view TO keyed_admin;


--
-- PostgreSQL database dump complete
--


