// What workers and senders ask: input for a session, the next session to work on, questions for people, and who is where.

export const fleetFunctions = `
-- Input, and the wish that somebody works on it, in one transaction. The same id a second time changes nothing; with another text
-- it is no repetition, and its sender must hear so.
create or replace function pal.send(p_tenant text, p_session text, p_id text, p_kind text, p_body text, p_trace text,
  p_team text, p_project text) returns jsonb language plpgsql as $$
declare s pal.session; before pal.received; added boolean := false;
begin
  perform pal.enter(p_tenant);
  -- Held until the input stands there: who removes the session waits for it, and one that is gone is made anew.
  loop
    insert into pal.session (tenant, id, root, team, project) values (p_tenant, p_session, p_session, p_team, p_project)
      on conflict do nothing;
    perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_session for key share;
    exit when found;
  end loop;
  select * into before from pal.received r where r.tenant = p_tenant and r.session = p_session and r.id = p_id;
  if found then return jsonb_build_object('new', false, 'other', before.sum <> pal.sum_of(p_body)); end if;
  insert into pal.inbox (tenant, session, id, kind, body, trace) values (p_tenant, p_session, p_id, p_kind, p_body, p_trace)
    on conflict do nothing;
  added := found;
  if not added and exists (select 1 from pal.inbox i where i.tenant = p_tenant and i.session = p_session and i.id = p_id
      and i.body <> p_body) then
    return '{"new": false, "other": true}';
  end if;
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_session;
  -- An agent hears its messages from whoever runs it; no worker is to take it for a conversation of its own.
  if added and (p_kind <> 'mail' or coalesce(s.purpose, 'main') = 'main') then perform pal.wake(p_tenant, p_session); end if;
  return jsonb_build_object('new', added, 'parked', s.parked);
end $$;

-- When a wish is looked at next; never, where the session is parked ('infinity'). A parked one stays so until it is unparked.
-- Whether somebody has begun with it stays as it was unless it is said.
create or replace function pal.look_at(p_tenant text, p_session text, p_at timestamptz, p_begun boolean, p_unpark boolean)
returns void language plpgsql as $$
declare w pal.wanted; begun_now boolean;
begin
  select * into w from pal.wanted x where x.tenant = p_tenant and x.session = p_session for update;
  begun_now := coalesce(p_begun, w.begun);
  if not found or (w.at = p_at and w.begun = begun_now) or (w.at = 'infinity' and not p_unpark) then return; end if;
  delete from pal.due d where d.tenant = p_tenant and d.begun = w.begun and d.at = w.at and d.session = p_session;
  update pal.wanted x set at = p_at, begun = begun_now where x.tenant = p_tenant and x.session = p_session;
  if p_at < 'infinity' then
    insert into pal.due (tenant, begun, at, session) values (p_tenant, begun_now, p_at, p_session) on conflict do nothing;
  end if;
end $$;

-- A holder sees by the number that something came while it was about to stop. Numbers begin with the time, so that none comes
-- twice: a finish that is asked again after a lost answer must not take a later wish. A parked session stays parked.
create or replace function pal.wake(p_tenant text, p_session text) returns void language plpgsql as $$
declare now_at timestamptz := clock_timestamp(); number bigint := floor(extract(epoch from now_at) * 1000000); s pal.session; w pal.wanted;
begin
  select * into s from pal.session x where x.tenant = p_tenant and x.id = p_session;
  insert into pal.wanted as x (tenant, session, n, at) values (p_tenant, p_session, number,
      case when s.parked is not null then 'infinity'::timestamptz else now_at end)
    on conflict (tenant, session) do update set n = x.n + 1 returning x.* into w;
  if w.at = 'infinity' then return; end if;
  -- The wish is new, or nobody works on it and it would be looked at only later.
  if w.n = number then
    insert into pal.due (tenant, at, session) values (p_tenant, w.at, p_session) on conflict do nothing;
  elsif w.at > now_at and not (s.token is not null and s.lease_until >= now_at) then
    perform pal.look_at(p_tenant, p_session, now_at, null, false);
  end if;
end $$;

-- The oldest wishes whose session nobody holds; first those that somebody had begun with, so that a session whose worker is gone
-- does not stand in the queue once more. A claim whose answer was lost is found again by its token.
create or replace function pal.claim(p_tenant text, p_owner jsonb, p_ttl interval, p_token uuid, p_most int, p_again boolean)
returns jsonb language plpgsql as $$
declare result jsonb := '[]'; is_begun boolean; d record; w pal.wanted; s pal.session; old pal.session;
begin
  perform pal.enter(p_tenant);
  if p_again then
    select coalesce(jsonb_agg(pal.claimed(x, q.n, false, 0)), '[]') into result
      from pal.session x join pal.wanted q on q.tenant = x.tenant and q.session = x.id
     where x.tenant = p_tenant and x.token = p_token;
    if result <> '[]' then return result; end if;
  end if;
  foreach is_begun in array array[true, false] loop
    for d in select q.* from pal.due q where q.tenant = p_tenant and q.begun = is_begun and q.at <= clock_timestamp()
              order by q.at for update skip locked limit p_most - jsonb_array_length(result) loop
      -- Others lock the session first and the wish next, so nobody is waited for here: whoever has one is about to change it.
      select * into old from pal.session x where x.tenant = p_tenant and x.id = d.session for update skip locked;
      continue when not found;
      select * into w from pal.wanted x where x.tenant = p_tenant and x.session = d.session for update skip locked;
      continue when not found;
      if old.parked is not null then
        perform pal.look_at(p_tenant, d.session, 'infinity', null, false);
      elsif old.token is not null and old.lease_until >= clock_timestamp() then
        -- Looked at again when that lease may have ended.
        perform pal.look_at(p_tenant, d.session, old.lease_until, null, false);
      else
        update pal.session x set epoch = x.epoch + 1, token = p_token, owner = p_owner, since = clock_timestamp(),
               lease_until = clock_timestamp() + p_ttl, tries = x.tries + 1
         where x.tenant = p_tenant and x.id = d.session returning x.* into s;
        perform pal.look_at(p_tenant, d.session, s.lease_until, true, false);
        perform pal.free_reservations(p_tenant, d.session, s.epoch);
        -- A lease that ended while nothing was wanted kept nobody waiting.
        result := result || pal.claimed(s, w.n, old.token is not null,
          floor(extract(epoch from clock_timestamp() - greatest(old.lease_until, d.at)) * 1000));
      end if;
    end loop;
  end loop;
  return result;
end $$;

create or replace function pal.claimed(s pal.session, p_n bigint, p_takeover boolean, p_waited numeric) returns jsonb
language sql immutable as $$
  select jsonb_build_object('session', s.id, 'epoch', s.epoch, 'tries', s.tries, 'n', p_n,
    'next', case when s.first is null then null else s.head + 1 end, 'team', s.team, 'project', s.project,
    'failure', s.failure, 'isTakeover', p_takeover, 'waitedMs', p_waited)
$$;

-- Nothing left to do: the wish goes unless something came since it was counted, and the session is free.
create or replace function pal.finish(p_tenant text, p_id text, p_token uuid, p_seen bigint) returns text language plpgsql as $$
declare gone pal.wanted;
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_id and x.token = p_token for update;
  if not found then return 'fenced'; end if;
  delete from pal.wanted w where w.tenant = p_tenant and w.session = p_id and w.n = p_seen returning w.* into gone;
  if found then delete from pal.due d where d.tenant = p_tenant and d.begun = gone.begun and d.at = gone.at and d.session = p_id;
  elsif exists (select 1 from pal.wanted w where w.tenant = p_tenant and w.session = p_id) then return 'more'; end if;
  update pal.session x set tries = 0, failure = null where x.tenant = p_tenant and x.id = p_id;
  return 'done';
end $$;

-- Of a holder that was told to stop before everything was done: that was no failure of the session, and counts as no try.
create or replace function pal.uncount(p_tenant text, p_id text, p_token uuid) returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  update pal.session x set tries = greatest(0, x.tries - 1) where x.tenant = p_tenant and x.id = p_id and x.token = p_token;
end $$;

create or replace function pal.wanted_n(p_tenant text, p_id text) returns bigint language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return (select w.n from pal.wanted w where w.tenant = p_tenant and w.session = p_id);
end $$;

-- With why nobody is to begin with it: who works on a session sees here that it was parked meanwhile.
drop function if exists pal.inbox_of(text, text, text, int);
create function pal.inbox_of(p_tenant text, p_id text, p_kind text, p_most int)
returns table (n bigint, id text, kind text, body text, trace text, at bigint, parked text) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select i.n, i.id, i.kind, i.body, i.trace, floor(extract(epoch from i.at) * 1000)::bigint, s.parked
    from pal.inbox i join pal.session s on s.tenant = i.tenant and s.id = i.session
    where i.tenant = p_tenant and i.session = p_id and (p_kind is null or i.kind = p_kind) order by i.n limit p_most;
end $$;

-- What went wrong is kept; after too many tries in a row the session is set aside until a person looks at it.
create or replace function pal.fail(p_tenant text, p_id text, p_epoch bigint, p_why text, p_most int, p_retry interval)
returns boolean language plpgsql as $$
declare s pal.session;
begin
  perform pal.enter(p_tenant);
  update pal.session x set failure = p_why, retry_after = case when x.token is null then null else p_retry end
   where x.tenant = p_tenant and x.id = p_id and x.epoch = p_epoch returning x.* into s;
  if not found then return false; end if;
  if s.tries >= p_most then return pal.park(p_tenant, p_id, 'failed ' || s.tries || ' times: ' || p_why); end if;
  if s.token is null then
    perform pal.look_at(p_tenant, p_id, clock_timestamp() + p_retry, false, false);
  end if;
  return false;
end $$;

create or replace function pal.park(p_tenant text, p_id text, p_why text) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  update pal.session x set parked = p_why where x.tenant = p_tenant and x.id = p_id;
  if not found then return false; end if;
  perform pal.look_at(p_tenant, p_id, 'infinity', false, false);
  return true;
end $$;

create or replace function pal.unpark(p_tenant text, p_id text) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  update pal.session x set parked = null, tries = 0 where x.tenant = p_tenant and x.id = p_id and x.parked is not null;
  if not found then return false; end if;
  perform pal.look_at(p_tenant, p_id, clock_timestamp(), null, true);
  if not exists (select 1 from pal.wanted w where w.tenant = p_tenant and w.session = p_id)
     and exists (select 1 from pal.inbox i where i.tenant = p_tenant and i.session = p_id) then
    perform pal.wake(p_tenant, p_id);
  end if;
  return true;
end $$;

-- Where in the transcript an input was delivered.
create or replace function pal.received_at(p_tenant text, p_id text, p_input text) returns bigint language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return (select r.seq from pal.received r where r.tenant = p_tenant and r.session = p_id and r.id = p_input);
end $$;

-- A question for a person sets the session aside; its answer brings it back.
create or replace function pal.ask(p_tenant text, p_session text, p_token uuid, p_id text, p_tool text, p_body text)
returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_session and x.token = p_token for update;
  if not found then return false; end if;
  insert into pal.question (tenant, session, id, tool, body) values (p_tenant, p_session, p_id, p_tool, p_body) on conflict do nothing;
  return true;
end $$;

-- Unless the answer has come meanwhile: both sides lock the session before they look.
create or replace function pal.park_for_question(p_tenant text, p_session text, p_why text) returns boolean language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_session for update;
  if not exists (select 1 from pal.question q where q.tenant = p_tenant and q.session = p_session and q.answer is null) then
    return false;
  end if;
  -- Whoever has a question did not fail: however many it has, it is not tried once more.
  update pal.session x set tries = 0, failure = null where x.tenant = p_tenant and x.id = p_session;
  return pal.park(p_tenant, p_session, p_why);
end $$;

create or replace function pal.answer(p_tenant text, p_session text, p_question text, p_answer text) returns text language plpgsql as $$
declare q pal.question;
begin
  perform pal.enter(p_tenant);
  perform 1 from pal.session x where x.tenant = p_tenant and x.id = p_session for update;
  select * into q from pal.question x where x.tenant = p_tenant and x.session = p_session and x.id = p_question for update;
  if not found then return 'not-found'; end if;
  if q.answer is not null then return case when q.answer = p_answer then 'ok' else 'answered' end; end if;
  update pal.question x set answer = p_answer, answered = clock_timestamp()
   where x.tenant = p_tenant and x.session = p_session and x.id = p_question;
  -- With a space, which no id of a sender has: nobody can be there before it.
  insert into pal.inbox (tenant, session, id, kind, body) values (p_tenant, p_session, 'answer ' || p_question, 'answer',
    jsonb_build_object('question', p_question, 'tool', q.tool, 'body', q.body, 'answer', p_answer)::text) on conflict do nothing;
  -- Other questions of the session may still wait.
  if not exists (select 1 from pal.question x where x.tenant = p_tenant and x.session = p_session and x.answer is null) then
    update pal.session x set parked = null where x.tenant = p_tenant and x.id = p_session and x.parked like 'question%';
    if found then perform pal.look_at(p_tenant, p_session, clock_timestamp(), null, true); end if;
    perform pal.wake(p_tenant, p_session);
  end if;
  return 'ok';
end $$;

create or replace function pal.questions(p_tenant text, p_session text)
returns table (session text, id text, tool text, body text, at bigint, answer text) language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  return query select q.session, q.id, q.tool, q.body, floor(extract(epoch from q.at) * 1000)::bigint, q.answer from pal.question q
    where q.tenant = p_tenant and (p_session is null or q.session = p_session) and (p_session is not null or q.answer is null)
    order by q.at;
end $$;

-- Whose a token is: told to whoever brings it.
create or replace function pal.tenant_of(p_sha256 text) returns text language plpgsql as $$
begin
  perform set_config('app.token_sha256', p_sha256, true);
  return (select t.tenant from pal.access_token t where t.sha256 = p_sha256 limit 1);
end $$;

create or replace function pal.add_token(p_tenant text, p_sha256 text, p_label text) returns void language plpgsql as $$
begin
  perform pal.enter(p_tenant);
  if not exists (select 1 from pal.tenant t where t.name = p_tenant) then
    raise exception 'no tenant %', p_tenant using errcode = '23503';
  end if;
  insert into pal.access_token (tenant, sha256, label) values (p_tenant, p_sha256, p_label)
    on conflict do nothing;
end $$;

create or replace function pal.remove_tokens(p_tenant text, p_label text) returns bigint language plpgsql as $$
declare n bigint;
begin
  perform pal.enter(p_tenant);
  delete from pal.access_token t where t.tenant = p_tenant and t.label = p_label;
  get diagnostics n = row_count;
  return n;
end $$;
`

/** Messages between sessions wait in the inbox like every input. Here is who can be written to by name, and what goes without a fact. */
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
