// The tables. Lines are `text`: `jsonb` reorders keys, changes numbers and refuses what tools print, and a transcript must come
// back byte for byte. There is no index on `changed`, `head` or `lease_until`: with one, every append would write the row anew
// in every index. What waits to be worked on has a table of its own for the same reason, and when it is to be looked at stands in
// yet another one, whose rows come and go and are never changed: so every change of a row is made in place.
export const tables = `
create table pal.tenant (
  name text collate "C" primary key,
  created timestamptz not null default clock_timestamp()
);

create table pal.session (
  tenant text collate "C" not null references pal.tenant,
  id text collate "C" not null,
  root text collate "C",
  purpose text,
  parent text,
  started_by text,
  project text,
  team text,
  first bigint,
  head bigint not null default -1,
  bytes bigint not null default 0,
  epoch bigint not null default 0,
  token uuid,
  owner jsonb,
  since timestamptz,
  lease_until timestamptz,
  tries int not null default 0,
  parked text,
  failure text,
  retry_after interval,
  created timestamptz not null default clock_timestamp(),
  changed timestamptz not null default clock_timestamp(),
  primary key (tenant, id)
) with (fillfactor = 70);

create table pal.entry (
  tenant text collate "C" not null,
  session text collate "C" not null,
  seq bigint not null,
  epoch bigint not null,
  line text not null,
  primary key (tenant, session, seq)
);

create table pal.blob (
  tenant text collate "C" not null,
  session text collate "C" not null,
  name text collate "C" not null,
  bytes bigint not null,
  sha256 bytea not null,
  data bytea not null,
  primary key (tenant, session, name)
);
alter table pal.blob alter column data set storage external;

create table pal.checkpoint (
  tenant text collate "C" not null,
  session text collate "C" not null,
  up_to bigint not null,
  line_sha256 bytea,
  body text not null,
  primary key (tenant, session)
);

create table pal.wanted (
  tenant text collate "C" not null,
  session text collate "C" not null,
  at timestamptz not null,
  n bigint not null default 1,
  primary key (tenant, session)
) with (fillfactor = 70);
create index wanted_at on pal.wanted (tenant, at);

create table pal.inbox (
  tenant text collate "C" not null,
  session text collate "C" not null,
  n bigint generated always as identity,
  id text collate "C" not null,
  kind text not null,
  body text not null,
  trace text,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant, session, n),
  unique (tenant, session, id)
);

create table pal.received (
  tenant text collate "C" not null,
  session text collate "C" not null,
  id text collate "C" not null,
  seq bigint not null,
  primary key (tenant, session, id)
);

create table pal.question (
  tenant text collate "C" not null,
  session text collate "C" not null,
  id text collate "C" not null,
  tool text not null,
  body text not null,
  at timestamptz not null default clock_timestamp(),
  answer text,
  answered timestamptz,
  primary key (tenant, session, id)
);

create table pal.spend (
  tenant text collate "C" not null,
  session text collate "C" not null,
  answer bigint not null,
  root text collate "C" not null,
  team text,
  project text,
  model text not null,
  message text,
  input bigint not null,
  cache_read bigint not null,
  cache_write bigint not null,
  output bigint not null,
  usd numeric,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant, session, answer)
);

create table pal.budget (
  tenant text collate "C" not null,
  scope text not null check (scope in ('tenant', 'team', 'project', 'tree')),
  name text collate "C" not null,
  period daterange not null,
  cap numeric not null check (cap >= 0),
  spent numeric not null default 0,
  reserved numeric not null default 0,
  primary key (tenant, scope, name, period)
) with (fillfactor = 50);

create table pal.reservation (
  tenant text collate "C" not null,
  session text collate "C" not null,
  request text collate "C" not null,
  epoch bigint not null,
  scope text not null,
  name text collate "C" not null,
  period daterange not null,
  usd numeric not null,
  primary key (tenant, session, request, scope, name, period)
);

create table pal.memory (
  tenant text collate "C" not null,
  place text collate "C" not null,
  file text collate "C" not null,
  version bigint generated always as identity,
  kind text not null check (kind in ('written', 'held', 'removed')),
  body text,
  sha256 text,
  standing text,
  origin text not null,
  via text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (tenant, place, file, version)
);

create table pal.access_token (
  tenant text collate "C" not null,
  sha256 text collate "C" not null,
  label text not null,
  created timestamptz not null default clock_timestamp(),
  primary key (tenant, sha256)
);
`

const firstTables = [
  'session',
  'entry',
  'blob',
  'checkpoint',
  'wanted',
  'inbox',
  'received',
  'question',
  'spend',
  'budget',
  'reservation',
  'memory',
  'access_token',
] as const

/** Every table that holds rows of tenants. */
export const tenantTables = [...firstTables, 'due', 'card', 'consolidation'] as const

const own = `tenant = nullif(current_setting('app.tenant', true), '')`

/**
 * The wall between tenants: a row is seen and written only while its tenant is the one that was set for this transaction. After a
 * transaction that was rolled back the setting is an empty text, not null, and must match nothing either.
 */
const wall = (table: string): string => `
alter table pal.${table} enable row level security;
alter table pal.${table} force row level security;
create policy own_rows on pal.${table} using (${own}) with check (${own});`

export const walls = [
  ...firstTables.map(wall),
  `
alter table pal.tenant enable row level security;
alter table pal.tenant force row level security;
create policy own_rows on pal.tenant using (name = nullif(current_setting('app.tenant', true), ''))
  with check (name = nullif(current_setting('app.tenant', true), ''));
create policy all_names on pal.tenant for select to pal_owner using (true);
-- Whoever brings a token is told whose it is; nobody can list them.
create policy brought on pal.access_token for select
  using (sha256 = nullif(current_setting('app.token_sha256', true), ''));
grant usage on schema pal to pal_app, pal_reader;
grant select, insert, update, delete on all tables in schema pal to pal_app;
revoke insert, update, delete on pal.tenant, pal.access_token, pal.migration from pal_app;
grant select on all tables in schema pal to pal_reader;
revoke select on pal.access_token from pal_reader;
grant usage on all sequences in schema pal to pal_app;`,
].join('\n')

/** When a wish is to be looked at. The wish knows the moment too, so that its row here is found by its key. */
export const dueTable = `
create table pal.due (
  tenant text collate "C" not null,
  at timestamptz not null,
  session text collate "C" not null,
  primary key (tenant, at, session)
);
drop index pal.wanted_at;
do $$
declare t text;
begin
  for t in select name from pal.tenant loop
    perform set_config('app.tenant', t, true);
    insert into pal.due (tenant, at, session) select w.tenant, w.at, w.session from pal.wanted w where w.tenant = t and w.at < 'infinity';
  end loop;
end $$;
${wall('due')}
grant select, insert, update, delete on pal.due to pal_app;
grant select on pal.due to pal_reader;
`

/** By which names sessions are written to. Whether one lives is told by its lease. */
export const cardTable = `
create table pal.card (
  tenant text collate "C" not null,
  session text collate "C" not null,
  name text not null,
  primary key (tenant, session)
);
${wall('card')}
grant select, insert, update, delete on pal.card to pal_app;
grant select on pal.card to pal_reader;
`

/** Work that somebody has begun with is looked for first, and apart, so that neither search passes the rows of the other. */
export const begunColumns = `
drop function if exists pal.look_at(text, text, timestamptz, boolean);
alter table pal.wanted add column begun boolean not null default false;
alter table pal.due add column begun boolean not null default false;
alter table pal.due drop constraint due_pkey;
alter table pal.due add primary key (tenant, begun, at, session);
`

/** By this an input that comes again under its id is known to be the same. What was received before has none. */
export const sumColumn = 'alter table pal.received add column sum bytea;'

/** Answers whose server did not say what they took: counted by size. What was written before was not marked. */
export const estimatedColumn = 'alter table pal.spend add column estimated boolean not null default false;'

/** Who puts the memories of a place in order now, and when the last one that ended well began. */
export const consolidationTable = `
create table pal.consolidation (
  tenant text collate "C" not null,
  place text collate "C" not null,
  token text,
  since timestamptz not null,
  last timestamptz,
  primary key (tenant, place)
);
${wall('consolidation')}
grant select, insert, update, delete on pal.consolidation to pal_app;
grant select on pal.consolidation to pal_reader;
`
