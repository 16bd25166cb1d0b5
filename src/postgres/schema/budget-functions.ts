// Money. What a request may cost at most is reserved in every budget that covers its session before it is sent; what the answer
// cost is counted in the transaction that writes it, by its place, so that nothing is counted twice or lost between two writes.
export const budgetFunctions = `
create or replace function pal.budgets_of(p_tenant text, p_id text) returns setof pal.budget language sql stable as $$
  select b.* from pal.budget b, pal.session s
   where s.tenant = p_tenant and s.id = p_id and b.tenant = p_tenant and b.period @> current_date
     and ((b.scope = 'tenant' and b.name = '') or (b.scope = 'team' and b.name = s.team)
       or (b.scope = 'project' and b.name = s.project) or (b.scope = 'tree' and b.name = coalesce(s.root, s.id)))
$$;

-- Everybody locks budgets in one order, so that two never wait for each other.
create or replace function pal.lock_budgets(p_tenant text, p_id text) returns void language plpgsql as $$
begin
  perform 1 from pal.budget x where x.tenant = p_tenant and ((x.scope, x.name, x.period) in
      (select o.scope, o.name, o.period from pal.budgets_of(p_tenant, p_id) o) or (x.scope, x.name, x.period) in
      (select r.scope, r.name, r.period from pal.reservation r where r.tenant = p_tenant and r.session = p_id))
    order by x.scope, x.name, x.period for update;
end $$;

create or replace function pal.reserve(p_tenant text, p_id text, p_token uuid, p_request text, p_usd numeric)
returns jsonb language plpgsql as $$
declare b record; s pal.session;
begin
  perform pal.enter(p_tenant);
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token;
  if not found then return '{"ok": false, "why": "fenced"}'; end if;
  if exists (select 1 from pal.reservation r where r.tenant = p_tenant and r.session = p_id and r.request = p_request) then
    return '{"ok": true}';
  end if;
  perform pal.lock_budgets(p_tenant, p_id);
  for b in select * from pal.budgets_of(p_tenant, p_id) loop
    if p_usd is null then
      return jsonb_build_object('ok', false, 'why', 'unpriced', 'scope', b.scope, 'name', b.name);
    end if;
    if b.spent + b.reserved + p_usd > b.cap then
      return jsonb_build_object('ok', false, 'why', 'cap', 'scope', b.scope, 'name', b.name, 'cap', b.cap, 'spent', b.spent,
        'reserved', b.reserved, 'until', upper(b.period));
    end if;
  end loop;
  if p_usd is null then return '{"ok": true}'; end if;
  insert into pal.reservation (tenant, session, request, epoch, scope, name, period, usd)
    select p_tenant, p_id, p_request, s.epoch, o.scope, o.name, o.period, p_usd from pal.budgets_of(p_tenant, p_id) o;
  update pal.budget x set reserved = x.reserved + p_usd where x.tenant = p_tenant and (x.scope, x.name, x.period) in
    (select o.scope, o.name, o.period from pal.reservation o where o.tenant = p_tenant and o.session = p_id and o.request = p_request);
  return '{"ok": true}';
end $$;

create or replace function pal.free_reservation(p_tenant text, p_id text, p_request text) returns void language plpgsql as $$
declare r record;
begin
  perform pal.enter(p_tenant);
  perform pal.lock_budgets(p_tenant, p_id);
  for r in delete from pal.reservation v where v.tenant = p_tenant and v.session = p_id and v.request = p_request returning v.* loop
    update pal.budget b set reserved = greatest(0, b.reserved - r.usd)
     where b.tenant = r.tenant and b.scope = r.scope and b.name = r.name and b.period = r.period;
  end loop;
end $$;

create or replace function pal.count_answers(p_tenant text, p_id text, p_answers jsonb) returns void language plpgsql as $$
declare cost numeric;
begin
  -- What a fork without a session of its own cost stands in the fact of its end.
  with answers as (select * from jsonb_to_recordset(p_answers) a(seq bigint, model text, message text, input bigint,
         "cacheRead" bigint, "cacheWrite" bigint, output bigint, usd numeric, child text, estimated boolean, at bigint)
       where a.child is null or not exists (select 1 from pal.session c where c.tenant = p_tenant and c.id = a.child and c.first is not null)),
  counted as (
    insert into pal.spend (tenant, session, answer, root, team, project, model, message, input, cache_read, cache_write, output, usd, estimated, at)
      select p_tenant, p_id, a.seq, coalesce(s.root, s.id), s.team, s.project, a.model, a.message, a.input, a."cacheRead",
             a."cacheWrite", a.output, a.usd, coalesce(a.estimated, false),
             case when a.at between 0 and 253402300799000 then least(to_timestamp(a.at / 1000.0), clock_timestamp()) else clock_timestamp() end
        from answers a, pal.session s
       where s.tenant = p_tenant and s.id = p_id
      on conflict do nothing returning answer, usd)
  -- What has a time of its own was paid before its session came here.
  select sum(c.usd) into cost from counted c join answers a on a.seq = c.answer where a.at is null;
  if cost is not null then
    perform pal.lock_budgets(p_tenant, p_id);
    update pal.budget x set spent = x.spent + cost where x.tenant = p_tenant and (x.scope, x.name, x.period) in
      (select o.scope, o.name, o.period from pal.budgets_of(p_tenant, p_id) o);
  end if;
end $$;

create or replace function pal.set_budget(p_tenant text, p_scope text, p_name text, p_from date, p_to date, p_cap numeric)
returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  -- A budget set late counts what was spent in its period before.
  insert into pal.budget (tenant, scope, name, period, cap, spent) values (p_tenant, p_scope, p_name, daterange(p_from, p_to), p_cap,
      (select coalesce(sum(s.usd), 0) from pal.spend s where s.tenant = p_tenant and s.at >= p_from and s.at < p_to
        and (p_scope = 'tenant' or (p_scope = 'team' and s.team = p_name) or (p_scope = 'project' and s.project = p_name)
          or (p_scope = 'tree' and s.root = p_name))))
    on conflict (tenant, scope, name, period) do update set cap = excluded.cap;
end $$;

create or replace function pal.budget_rows(p_tenant text) returns setof jsonb language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select jsonb_build_object('scope', b.scope, 'name', b.name, 'from', lower(b.period), 'to', upper(b.period),
    'cap', b.cap, 'spent', b.spent, 'reserved', b.reserved) from pal.budget b where b.tenant = p_tenant
    order by b.scope, b.name, b.period;
end $$;

create or replace function pal.stale_reservations(p_tenant text) returns bigint language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return (select count(distinct (r.session, r.request)) from pal.reservation r join pal.session s on s.tenant = r.tenant and s.id = r.session
    where r.tenant = p_tenant and (s.token is null or s.lease_until < clock_timestamp() or s.epoch > r.epoch));
end $$;

create or replace function pal.remove_budget(p_tenant text, p_scope text, p_name text) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  delete from pal.budget b where b.tenant = p_tenant and b.scope = p_scope and b.name = p_name and b.period @> current_date;
  return found;
end $$;
`
