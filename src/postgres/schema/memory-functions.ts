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
  insert into pal.memory (tenant, place, file, kind, body, sha256, standing, origin, via)
    values (p_tenant, p_place, p_file, p_kind, p_body, p_sha256, p_standing, p_origin, p_via) returning version into v;
  return v;
end $$;

create or replace function pal.forget_memory(p_tenant text, p_place text, p_file text) returns bigint language plpgsql as $$
declare n bigint;
begin
  perform pal.enter(p_tenant);
  delete from pal.memory m where m.tenant = p_tenant and m.place = p_place and m.file = p_file;
  get diagnostics n = row_count;
  return n;
end $$;
`
