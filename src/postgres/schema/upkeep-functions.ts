// What those ask who look after a fleet: what is there, what waits, what is old.
export const upkeepFunctions = `
-- Somebody works on it, waits for it or has set it aside, or something was written to it since.
create or replace function pal.is_kept(s pal.session, p_before timestamptz) returns boolean language sql stable as $$
  select s.changed >= p_before or s.parked is not null or (s.token is not null and s.lease_until >= clock_timestamp())
    or exists (select 1 from pal.wanted w where w.tenant = s.tenant and w.session = s.id)
    or exists (select 1 from pal.inbox i where i.tenant = s.tenant and i.session = s.id)
$$;

-- Conversations that are not kept, nor any of their agents, which go with them. What is kept is looked for once, not for each.
drop function if exists pal.old_sessions(text, timestamptz);
create function pal.old_sessions(p_tenant text, p_before timestamptz)
returns table (id text, root text, bytes bigint, changed bigint) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query with kept as materialized (select distinct coalesce(s.root, s.id) as tree from pal.session s
      where s.tenant = p_tenant and pal.is_kept(s, p_before))
    select m.id, coalesce(m.root, m.id), m.bytes, floor(extract(epoch from m.changed) * 1000)::bigint from pal.session m
      left join kept on kept.tree = coalesce(m.root, m.id) where m.tenant = p_tenant and kept.tree is null order by m.changed;
end $$;

-- What was old when it was looked at and still is: all of these or none. Whoever sends something just now is waited for.
create or replace function pal.remove_old(p_tenant text, p_ids text[], p_before timestamptz) returns setof text
language plpgsql as $$
declare one text;
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = any(p_ids) order by x.id for update;
  if exists (select 1 from pal.session s where s.tenant = p_tenant and s.id = any(p_ids) and pal.is_kept(s, p_before)) then return; end if;
  foreach one in array p_ids loop
    if (pal.remove(p_tenant, one, '{}')->>'ok')::boolean then return next one; end if;
  end loop;
end $$;

create or replace function pal.waiting(p_tenant text) returns table (oldest bigint, parked bigint) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select
    (select floor(extract(epoch from clock_timestamp() - min(i.at)) * 1000)::bigint from pal.inbox i join pal.session s
       on s.tenant = i.tenant and s.id = i.session where i.tenant = p_tenant and s.parked is null),
    (select count(*) from pal.session s where s.tenant = p_tenant and s.parked is not null);
end $$;

create or replace function pal.fleet_rows(p_tenant text, p_session text) returns setof jsonb language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select jsonb_build_object('session', s.id, 'purpose', s.purpose, 'root', s.root, 'team', s.team, 'project', s.project,
      'entries', case when s.first is null then 0 else s.head - s.first + 1 end, 'bytes', s.bytes, 'head', s.head,
      'changed', floor(extract(epoch from s.changed) * 1000), 'parked', s.parked, 'failure', s.failure, 'tries', s.tries,
      'owner', case when s.lease_until >= clock_timestamp() then pal.owner_of(s) end, 'epoch', s.epoch,
      'waiting', (select count(*) from pal.inbox i where i.tenant = s.tenant and i.session = s.id),
      'wantedFor', (select case when w.at = 'infinity' then null else
         floor(extract(epoch from clock_timestamp() - w.at) * 1000) end from pal.wanted w where w.tenant = s.tenant and w.session = s.id),
      'usd', c.usd, 'answers', c.answers, 'unpriced', c.unpriced, 'estimated', c.estimated)
    from pal.session s cross join lateral (select sum(p.usd) as usd, count(*) as answers, count(*) - count(p.usd) as unpriced,
      count(*) filter (where p.estimated) as estimated from pal.spend p where p.tenant = s.tenant and p.session = s.id) c
    where s.tenant = p_tenant and (p_session is null or s.id = p_session) order by s.changed desc, s.id;
end $$;
`
