// Messages between sessions wait in the inbox like every input. Here is who can be written to by name, and what goes without a fact.
export const mailFunctions = `
create or replace function pal.put_card(p_tenant text, p_session text, p_name text) returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  if p_name is null then delete from pal.card c where c.tenant = p_tenant and c.session = p_session;
  else insert into pal.card (tenant, session, name) values (p_tenant, p_session, p_name)
    on conflict (tenant, session) do update set name = excluded.name;
  end if;
end $$;

create or replace function pal.cards(p_tenant text) returns table (session text, name text) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select c.session, c.name from pal.card c join pal.session s on s.tenant = c.tenant and s.id = c.session
    where c.tenant = p_tenant and s.token is not null and s.lease_until >= clock_timestamp() order by c.session;
end $$;

-- What can be written to: a conversation, also one that nobody works on now, or an agent that lives.
create or replace function pal.has_box(p_tenant text, p_session text) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return exists (select 1 from pal.session s where s.tenant = p_tenant and s.id = p_session
    and (coalesce(s.purpose, 'main') = 'main' or (s.token is not null and s.lease_until >= clock_timestamp())));
end $$;

-- Messages that leave no fact: what cannot be read, and what was known already.
create or replace function pal.drop_mail(p_tenant text, p_session text, p_ids text[]) returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  with gone as (delete from pal.inbox i where i.tenant = p_tenant and i.session = p_session and i.kind = 'mail'
    and i.id = any(p_ids) returning i.id)
  insert into pal.received (tenant, session, id, seq) select p_tenant, p_session, g.id, -1 from gone g on conflict do nothing;
end $$;
`
