// One function for each verb of the store. It sets the tenant for its own transaction and does its work in the same statement:
// no state of a connection is used, so a pooler in transaction mode may stand between, and no round trip is added.
export const storeFunctions = `
create or replace function pal.enter(p_tenant text) returns void language plpgsql as $$
begin
  perform set_config('app.tenant', coalesce(p_tenant, ''), true);
end $$;

-- What whoever connects must know before anything else.
create or replace function pal.readiness(p_tenant text) returns jsonb language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return jsonb_build_object('number', (select max(m.number) from pal.migration m),
    'tenant', exists (select 1 from pal.tenant t where t.name = p_tenant),
    'writes', has_table_privilege('pal.session', 'update'));
end $$;

create or replace function pal.owner_of(s pal.session) returns jsonb language sql immutable as $$
  select case when s.token is null then null else
    jsonb_build_object('who', 'process ' || (s.owner->>'pid') || ' on ' || (s.owner->>'host'), 'since', floor(extract(epoch from s.since) * 1000),
      'freeAt', floor(extract(epoch from s.lease_until) * 1000)) end
$$;

-- What requests of an earlier holder had reserved is given back when somebody else holds the session.
create or replace function pal.free_reservations(p_tenant text, p_id text, p_before bigint) returns void language plpgsql as $$
declare r record;
begin
  if not exists (select 1 from pal.reservation v where v.tenant = p_tenant and v.session = p_id and v.epoch < p_before) then return; end if;
  perform pal.lock_budgets(p_tenant, p_id);
  for r in delete from pal.reservation v where v.tenant = p_tenant and v.session = p_id and v.epoch < p_before
           returning v.* loop
    update pal.budget b set reserved = greatest(0, b.reserved - r.usd)
     where b.tenant = r.tenant and b.scope = r.scope and b.name = r.name and b.period = r.period;
  end loop;
end $$;

create or replace function pal.lease(p_tenant text, p_id text, p_owner jsonb, p_ttl interval, p_token uuid)
returns jsonb language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  insert into pal.session (tenant, id, root) values (p_tenant, p_id, p_id) on conflict do nothing;
  update pal.session as x set epoch = x.epoch + 1, token = p_token, owner = p_owner, since = clock_timestamp(),
         lease_until = clock_timestamp() + p_ttl
   where x.tenant = p_tenant and x.id = p_id
     and (x.token is null or x.token = p_token or x.lease_until < clock_timestamp())
   returning x.* into s;
  if not found then
    select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id;
    return jsonb_build_object('ok', false, 'owner', pal.owner_of(s));
  end if;
  perform pal.free_reservations(p_tenant, p_id, s.epoch);
  return jsonb_build_object('ok', true, 'epoch', s.epoch,
    'next', case when s.first is null then null else s.head + 1 end);
end $$;

create or replace function pal.renew(p_tenant text, p_ids text[], p_tokens uuid[], p_ttl interval)
returns setof text language plpgsql as $$
declare held text[];
begin
  perform pal.enter(p_tenant);
  with renewed as (
    update pal.session s set lease_until = clock_timestamp() + p_ttl from unnest(p_ids, p_tokens) u(id, token)
     where s.tenant = p_tenant and s.id = u.id and s.token = u.token returning s.id)
  select array_agg(r.id) into held from renewed r;
  -- Only what would soon be looked at: most turns are over before that, and then nothing was written for them.
  perform pal.look_at(w.tenant, w.session, clock_timestamp() + p_ttl, null, false) from pal.wanted w
   where w.tenant = p_tenant and w.session = any(held) and w.at < clock_timestamp() + p_ttl / 2;
  return query select unnest(held);
end $$;

create or replace function pal.release(p_tenant text, p_id text, p_token uuid) returns void language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token for update;
  if found then
    update pal.session x set token = null, owner = null, lease_until = null, retry_after = null
     where x.tenant = p_tenant and x.id = p_id;
    perform pal.free_reservations(p_tenant, p_id, s.epoch + 1);
    -- Whoever failed goes to the end; whoever was only stopped goes on before others begin.
    perform pal.look_at(p_tenant, p_id, clock_timestamp() + coalesce(s.retry_after, interval '0'),
      case when s.retry_after is not null then false end, false);
  end if;
end $$;

create or replace function pal.append(p_tenant text, p_id text, p_epoch bigint, p_token uuid, p_at bigint, p_lines text[],
  p_bytes bigint, p_again boolean, p_about jsonb, p_answers jsonb, p_received jsonb) returns jsonb language plpgsql as $$
declare s pal.session; n bigint := cardinality(p_lines);
begin
  perform pal.enter(p_tenant);
  if n > 0 then
    update pal.session x set head = p_at + n - 1, first = coalesce(x.first, p_at), bytes = x.bytes + p_bytes,
           changed = clock_timestamp()
     where x.tenant = p_tenant and x.id = p_id and x.epoch = p_epoch and x.token = p_token
       and (x.first is null or x.head = p_at - 1)
     returning x.* into s;
    if found then
      insert into pal.entry (tenant, session, seq, epoch, line)
        select p_tenant, p_id, p_at + o - 1, p_epoch, l from unnest(p_lines) with ordinality u(l, o);
      if p_about is not null then perform pal.describe(p_tenant, p_id, p_about); end if;
      if p_answers is not null then perform pal.count_answers(p_tenant, p_id, p_answers); end if;
      if p_received is not null then perform pal.note_received(p_tenant, p_id, p_received); end if;
      return '{"ok": true}';
    end if;
  end if;
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id;
  if not found or s.token is distinct from p_token or s.epoch <> p_epoch then
    return jsonb_build_object('ok', false, 'why', 'fenced', 'owner', pal.owner_of(s));
  end if;
  if n = 0 and (s.first is null or s.head = p_at - 1) then return '{"ok": true}'; end if;
  -- The answer to the first try was lost: what stands there is what was sent.
  if p_again and s.head = p_at + n - 1 and p_lines = array(
       select e.line from pal.entry e where e.tenant = p_tenant and e.session = p_id and e.seq between p_at and s.head
          and e.epoch = p_epoch order by e.seq) then
    return '{"ok": true}';
  end if;
  return jsonb_build_object('ok', false, 'why', 'seq-taken', 'next', s.head + 1);
end $$;

-- Columns for lists and budgets, from the first fact of a session. A session that another started belongs to its tree.
create or replace function pal.describe(p_tenant text, p_id text, p_about jsonb) returns void language plpgsql as $$
declare above pal.session;
begin
  select * into above from pal.session x where x.tenant = p_tenant and x.id = p_about->>'above';
  update pal.session x set purpose = p_about->>'purpose', parent = p_about->>'parent', started_by = p_about->>'startedBy',
         root = coalesce(above.root, p_id), team = coalesce(above.team, x.team), project = coalesce(above.project, x.project)
   where x.tenant = p_tenant and x.id = p_id;
end $$;

-- Input leaves the inbox in the same transaction that writes its fact: it is in one of the two places, never in both or none.
create or replace function pal.note_received(p_tenant text, p_id text, p_received jsonb) returns void language plpgsql as $$
begin
  with gone as (
    delete from pal.inbox i using jsonb_to_recordset(p_received) r(id text, seq bigint)
     where i.tenant = p_tenant and i.session = p_id and i.id = r.id returning i.id, r.seq, i.body)
  insert into pal.received (tenant, session, id, seq, sum) select p_tenant, p_id, g.id, g.seq, pal.sum_of(g.body) from gone g
    on conflict do nothing;
end $$;

create or replace function pal.sum_of(p_body text) returns bytea language sql immutable as $$
  select sha256(convert_to(p_body, 'UTF8'))
$$;

create or replace function pal.is_held(p_tenant text, p_id text, p_token uuid) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return exists (select 1 from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token);
end $$;

create or replace function pal.lines(p_tenant text, p_id text, p_from bigint, p_to bigint, p_back boolean, p_rows int, p_bytes bigint)
returns table (seq bigint, line text) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  if p_back then
    return query select e.seq, e.line from (
      select x.seq, x.line, sum(octet_length(x.line)) over (order by x.seq desc) - octet_length(x.line) as before
        from (select y.seq, y.line from pal.entry y where y.tenant = p_tenant and y.session = p_id
               and y.seq between p_from and p_to order by y.seq desc limit p_rows) x) e
      where e.before < p_bytes order by e.seq desc;
  else
    return query select e.seq, e.line from (
      select x.seq, x.line, sum(octet_length(x.line)) over (order by x.seq) - octet_length(x.line) as before
        from (select y.seq, y.line from pal.entry y where y.tenant = p_tenant and y.session = p_id
               and y.seq between p_from and p_to order by y.seq limit p_rows) x) e
      where e.before < p_bytes order by e.seq;
  end if;
end $$;

create or replace function pal.ends(p_tenant text, p_id text) returns jsonb language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id and x.first is not null;
  return case when found then jsonb_build_object('first', s.first, 'head', s.head) else null end;
end $$;

create or replace function pal.sessions(p_tenant text, p_only text) returns table (id text, bytes bigint, changed bigint)
language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select x.id, x.bytes, floor(extract(epoch from x.changed) * 1000)::bigint from pal.session x
    where x.tenant = p_tenant and x.first is not null and (p_only is null or x.id = p_only) order by x.changed desc, x.id;
end $$;

create or replace function pal.owners(p_tenant text, p_ids text[]) returns table (id text, owner jsonb) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select x.id, pal.owner_of(x) from pal.session x
    where x.tenant = p_tenant and x.id = any(p_ids) and x.token is not null and x.lease_until >= clock_timestamp();
end $$;

create or replace function pal.put_blob(p_tenant text, p_id text, p_token uuid, p_name text, p_sha256 bytea, p_data bytea,
  p_quota bigint) returns text language plpgsql as $$
declare there bytea;
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token for update;
  if not found then return 'not-held'; end if;
  select b.sha256 into there from pal.blob b where b.tenant = p_tenant and b.session = p_id and b.name = p_name;
  if found then return case when there = p_sha256 then 'ok' else 'exists' end; end if;
  if length(p_data) + (select coalesce(sum(b.bytes), 0) from pal.blob b where b.tenant = p_tenant and b.session = p_id) > p_quota
    then return 'quota'; end if;
  insert into pal.blob values (p_tenant, p_id, p_name, length(p_data), p_sha256, p_data);
  return 'ok';
end $$;

create or replace function pal.get_blob(p_tenant text, p_id text, p_name text, p_offset bigint, p_length bigint)
returns table (data bytea, total bigint) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select substring(b.data from (p_offset + 1)::int for p_length::int), b.bytes from pal.blob b
    where b.tenant = p_tenant and b.session = p_id and b.name = p_name;
end $$;

create or replace function pal.blob_names(p_tenant text, p_id text) returns setof text language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select b.name from pal.blob b where b.tenant = p_tenant and b.session = p_id order by b.name;
end $$;

create or replace function pal.put_checkpoint(p_tenant text, p_id text, p_token uuid, p_up_to bigint, p_body text)
returns text language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token for update;
  if not found then return 'not-held'; end if;
  if s.first is null or p_up_to > s.head then return 'not-found'; end if;
  insert into pal.checkpoint values (p_tenant, p_id, p_up_to, pal.line_sha256(p_tenant, p_id, p_up_to), p_body)
    on conflict (tenant, session) do update set up_to = excluded.up_to, line_sha256 = excluded.line_sha256, body = excluded.body;
  return 'ok';
end $$;

create or replace function pal.line_sha256(p_tenant text, p_id text, p_seq bigint) returns bytea language sql stable as $$
  select sha256(convert_to(e.line, 'UTF8')) from pal.entry e where e.tenant = p_tenant and e.session = p_id and e.seq = p_seq
$$;

create or replace function pal.get_checkpoint(p_tenant text, p_id text) returns text language plpgsql as $$
declare c pal.checkpoint;
begin
  perform pal.enter(p_tenant);
  select k.* into c from pal.checkpoint k join pal.session s on s.tenant = k.tenant and s.id = k.session
   where k.tenant = p_tenant and k.session = p_id and k.up_to <= s.head;
  if not found or c.line_sha256 is distinct from pal.line_sha256(p_tenant, p_id, c.up_to) then return null; end if;
  return c.body;
end $$;

-- Everything of a session. What its answers cost stays in the sums of the budgets alone.
create or replace function pal.remove(p_tenant text, p_id text, p_tokens uuid[]) returns jsonb language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id for update;
  if not found then return '{"ok": false, "why": "no-such-session"}'; end if;
  if s.token is not null and s.lease_until >= clock_timestamp() and not s.token = any(p_tokens) then
    return jsonb_build_object('ok', false, 'why', 'session-open', 'owner', pal.owner_of(s));
  end if;
  perform pal.free_reservations(p_tenant, p_id, s.epoch + 1);
  delete from pal.entry x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.blob x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.checkpoint x where x.tenant = p_tenant and x.session = p_id;
  perform pal.look_at(p_tenant, p_id, 'infinity', null, false);
  delete from pal.wanted x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.inbox x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.card x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.received x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.question x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.spend x where x.tenant = p_tenant and x.session = p_id;
  delete from pal.session x where x.tenant = p_tenant and x.id = p_id;
  return '{"ok": true}';
end $$;
`
