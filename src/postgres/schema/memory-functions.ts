// Memories: every version is a row, the newest that is not held counts. Judging what may be saved is the caller's; that nothing
// came between its reading and its writing is decided here, under a lock for the file.
export const memoryFunctions = `
create or replace function pal.current_memories(p_tenant text, p_place text)
returns setof pal.memory language sql stable as $$
  select m.* from (select distinct on (x.file) x.* from pal.memory x
    where x.tenant = p_tenant and x.place = p_place and x.kind <> 'held' order by x.file, x.version desc) m
  where m.kind = 'written'
$$;

create or replace function pal.memories(p_tenant text, p_place text, p_file text)
returns table (file text, version bigint, body text, sha256 text, standing text, origin text, at bigint) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select m.file, m.version, m.body, m.sha256, m.standing, m.origin, floor(extract(epoch from m.at) * 1000)::bigint
    from pal.current_memories(p_tenant, p_place) m where p_file is null or m.file = p_file order by m.version desc;
end $$;

create or replace function pal.save_memory(p_tenant text, p_place text, p_file text, p_kind text, p_body text, p_sha256 text,
  p_standing text, p_origin text, p_via text, p_expected bigint) returns bigint language plpgsql as $$
declare v bigint; there bigint;
begin
  perform pal.enter(p_tenant);
  perform pg_advisory_xact_lock(hashtextextended(p_tenant || '/' || p_place || '/' || p_file, 7));
  select m.version into there from pal.current_memories(p_tenant, p_place) m where m.file = p_file;
  if p_kind <> 'held' and there is distinct from p_expected then return null; end if;
  -- One that is held replaces nothing: asked again because its answer was lost, it is known by its own words and moment.
  if p_kind = 'held' then
    select m.version into v from pal.memory m where m.tenant = p_tenant and m.place = p_place and m.file = p_file and m.kind = 'held'
      and m.body is not distinct from p_body and m.origin = p_origin and m.via = p_via;
    if found then return v; end if;
  end if;
  insert into pal.memory (tenant, place, file, kind, body, sha256, standing, origin, via)
    values (p_tenant, p_place, p_file, p_kind, p_body, p_sha256, p_standing, p_origin, p_via) returning version into v;
  return v;
end $$;

-- All of it or nothing: the locks are taken in one order, and every file is looked at before the first is written.
create or replace function pal.save_memory_set(p_tenant text, p_place text, p_via text, p_changes jsonb)
returns bigint[] language plpgsql as $$
declare c jsonb; v bigint; there bigint; versions bigint[] := '{}';
begin
  perform pal.enter(p_tenant);
  for c in select x.item from jsonb_array_elements(p_changes) as x(item) order by x.item->>'file' collate "C" loop
    perform pg_advisory_xact_lock(hashtextextended(p_tenant || '/' || p_place || '/' || (c->>'file'), 7));
    select m.version into there from pal.current_memories(p_tenant, p_place) m where m.file = c->>'file';
    if there is distinct from (c->>'expected')::bigint then return null; end if;
  end loop;
  for c in select x.item from jsonb_array_elements(p_changes) with ordinality as x(item, n) order by x.n loop
    insert into pal.memory (tenant, place, file, kind, body, sha256, standing, origin, via)
      values (p_tenant, p_place, c->>'file', c->>'kind', c->>'body', c->>'sha256', c->>'standing', c->>'origin', p_via)
      returning version into v;
    versions := versions || v;
  end loop;
  return versions;
end $$;

create or replace function pal.last_consolidation(p_tenant text, p_place text) returns bigint language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return (select floor(extract(epoch from c.last) * 1000)::bigint from pal.consolidation c
    where c.tenant = p_tenant and c.place = p_place);
end $$;

-- Whoever began and is not heard of again is given up after a while.
create or replace function pal.begin_consolidation(p_tenant text, p_place text, p_token text, p_stale interval)
returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  insert into pal.consolidation as c (tenant, place, token, since) values (p_tenant, p_place, p_token, clock_timestamp())
    on conflict (tenant, place) do update set token = excluded.token, since = excluded.since
    where c.token is null or c.token = p_token or c.since < excluded.since - p_stale;
  return found;
end $$;

create or replace function pal.end_consolidation(p_tenant text, p_place text, p_token text, p_done boolean)
returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  update pal.consolidation c set token = null, last = case when p_done then c.since else c.last end
    where c.tenant = p_tenant and c.place = p_place and c.token = p_token;
end $$;
`
