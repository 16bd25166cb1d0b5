// The script of the page, as text: it is not ours to run here. It reads the data of the page and draws; every word of it
// becomes a text node.

const shared = `
const data = JSON.parse(document.getElementById('data').textContent)
const page = document.getElementById('page')
const svgSpace = 'http://www.w3.org/2000/svg'
function fill(made, fields, inside) {
  for (const [key, value] of Object.entries(fields || {})) made.setAttribute(key, String(value))
  for (const one of inside) made.append(typeof one === 'object' ? one : document.createTextNode(String(one)))
  return made
}
const make = (name, fields, ...inside) => fill(document.createElement(name), fields, inside)
const draw = (name, fields, ...inside) => fill(document.createElementNS(svgSpace, name), fields, inside)
const percent = (share) => (share === null ? '–' : (share * 100).toFixed(1))
const millions = (tokens) => (tokens / 1e6).toFixed(2)
const thousands = (tokens) => (tokens >= 1000 ? Math.round(tokens / 1000) + 'K' : String(tokens))
const dollars = (value) => (value === null ? '–' : '$' + value.toFixed(2))
const change = (paid, ours) => (paid === 0 ? '–' : (ours <= paid ? '−' : '+') + Math.abs((ours / paid - 1) * 100).toFixed(0) + ' %')
const plain = (titles, rows, explained) => make('table', {}, make('thead', {}, make('tr', {}, ...titles.map((title, at) => make('th', explained && explained[at] ? { title: explained[at] } : {}, title)))), make('tbody', {}, ...rows.map((row) => make('tr', {}, ...row.map((cell) => make('td', {}, cell))))))
const kinds = new Map(data.policies.map((policy) => [policy.name, policy.kind]))
const abouts = new Map(data.policies.map((policy) => [policy.name, policy.about]))
function choice(words, options, changed) {
  const select = make('select', { 'aria-label': words })
  for (const [value, text] of options) select.append(make('option', { value }, text))
  select.addEventListener('change', () => changed(select.value))
  return [make('label', {}, words + ' ', select), select]
}
const clear = (element) => element.replaceChildren()
`

const money = `
const { bill } = data
const isCompared = bill !== null && bill.paid > 0
page.append(make('h1', {}, isCompared ? 'Paid ' + dollars(bill.paid) + '; with our policy ' + dollars(bill.ours) + ' (' + change(bill.paid, bill.ours) + ')' : data.sessions.length + (data.sessions.length === 1 ? ' session' : ' sessions') + ' played again'))
if (isCompared) {
  page.append(make('p', {}, 'Paid: ' + bill.counted + (bill.counted === 1 ? ' session' : ' sessions') + ' by the counts of the provider, each request at the prices of the model that answered it. With our policy: the same sessions played again under the cache lifetime the program used, counted by us' +
    (bill.rounds > 0 ? ', with ' + bill.rounds + ' rounds in which something is looked up again that was no longer in sight' : '') + '. Sending everything each time: ' + dollars(bill.whole) + '.'))
  const missing = []
  if (bill.outputUnknown > 0) missing.push(bill.outputUnknown + ' answers have no final count of their output: it is left out on both sides.')
  for (const [model, count] of Object.entries(data.unpriced)) missing.push('No price is known for ' + model + ' (' + count + ' answers): left out on both sides.')
  if (data.sessions.length > bill.counted) missing.push((data.sessions.length - bill.counted) + ' sessions have no counts or could not be played to their end: not in the money.')
  if (missing.length > 0) page.append(make('p', {}, missing.join(' ')))
  page.append(make('h2', {}, 'Why'), make('div', { class: 'scroll', id: 'why' }, plain(['', 'as it was', 'with our policy'], bill.why.map(([title, paid, ours, kind]) => {
    const shown = (value) => (value === null ? '–' : kind === 'share' ? percent(value) + ' %' : kind === 'dollars' ? dollars(value) : thousands(Math.round(value)))
    return [title, shown(paid), shown(ours)]
  }))))
  page.append(make('h2', {}, 'Sessions'), make('div', { class: 'scroll', id: 'sessions' }, plain(['session', 'program', 'requests', 'paid', 'with our policy', 'change', 'cache breaks', 'tokens sent again'],
    data.sessions.map((session) => [session.name, session.client, session.requests, session.recorded === null ? 'no counts' : dollars(session.recorded.dollars), session.isWhole ? dollars(session.ours) : 'broke off', session.recorded === null || !session.isWhole ? '–' : change(session.recorded.dollars, session.ours), session.losses.length, thousands(session.losses.reduce((sum, loss) => sum + loss.tokens, 0))]),
    [null, null, 'answers of the model', 'by the counts of the provider', 'played again, what is looked up again included', null, 'times the provider read less from its cache than it had', 'what had to be sent and paid again because of that'])))
}
`

const scatter = `
const state = { lifetime: '1h', measure: 'need', policy: null }
const measures = { need: 'of what later work needed', bare: 'of the same, whatever stands beside it', edits: 'of the texts that edits replace', words: 'of what the person typed', once: 'of what nothing shows again' }
const picture = make('div', { id: 'picture' })
const pointed = make('div', { class: 'note', id: 'pointed' })
const tableAll = make('div', { class: 'scroll', id: 'all' })
function tell(row) {
  if (!row) { pointed.textContent = 'Point at a policy.'; return }
  pointed.textContent = row.policy + ': ' + (abouts.get(row.policy) || '') + '\\n' + dollars(row.dollars5m) + ' / ' + dollars(row.dollars1h) +
    ' with a cache of 5 minutes / 1 hour; ' + percent(row.rounds) + ' rounds more for each hundred; in sight: ' + percent(row.need) + ' % of what was needed, ' +
    percent(row.edits) + ' % of the texts of edits, ' + percent(row.words) + ' % of what the person typed; ' + row.lost + ' of ' + row.cuts + ' reductions lost money'
}
function choosePolicy(name) {
  state.policy = state.policy === name ? null : name
  tell(data.all.find((row) => row.policy === state.policy))
  for (const one of document.querySelectorAll('[data-policy]')) one.classList.toggle('chosen', one.dataset.policy === state.policy)
}
function drawPicture() {
  clear(picture)
  const [width, height, left, right, top, bottom] = [1000, 440, 60, 190, 16, 48]
  const rows = data.all.filter((row) => row[state.measure] !== null)
  const cost = (row) => (state.lifetime === '1h' ? row.total1h : row.total5m)
  const most = Math.max(1, ...rows.map(cost)) * 1.04
  const size = 10 ** Math.floor(Math.log10(most / 4))
  const apart = [1, 2, 5, 10].map((times) => times * size).find((step) => most / step <= 6)
  const ticks = [1, 0.99, 0.98, 0.95, 0.9, 0.75, 0.5, 0.25, 0]
  const lowest = Math.min(0.95, ...rows.map((row) => row[state.measure]))
  const least = ticks.find((tick) => tick <= lowest)
  const x = (value) => left + (value / most) * (width - left - right)
  // What is lost counts, so near everything the scale is stretched.
  const depth = (share) => Math.log((1 - share + 0.004) / 0.004)
  const y = (share) => top + (depth(share) / depth(least)) * (height - top - bottom)
  const svg = draw('svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'cost and what is kept' })
  for (let at = 0; at <= most; at += apart) {
    svg.append(draw('line', { class: 'axis', x1: x(at), x2: x(at), y1: top, y2: height - bottom }))
    svg.append(draw('text', { x: x(at), y: height - bottom + 18, 'text-anchor': 'middle' }, String(Number((at / 1e6).toPrecision(3)))))
  }
  svg.append(draw('text', { x: left - 8, y: top - 4, 'text-anchor': 'end' }, 'in sight'))
  for (const share of ticks.filter((tick) => tick >= least)) {
    svg.append(draw('line', { class: 'axis', x1: left, x2: width - right, y1: y(share), y2: y(share) }))
    svg.append(draw('text', { x: left - 8, y: y(share) + 4, 'text-anchor': 'end' }, (share * 100).toFixed(0) + ' %'))
  }
  svg.append(draw('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle' }, 'total cost, in millions of plain input tokens; the scale to the left is stretched near 100 %'))
  const names = rows.map((row) => ({ row, at: y(row[state.measure]) })).sort((a, b) => a.at - b.at)
  let next = top
  for (const name of names) next = (name.at = Math.max(name.at, next)) + 15
  const over = Math.max(0, next - (height - 10))
  for (const { row, at } of names) {
    const kind = kinds.get(row.policy) || 'peer'
    const hold = { 'data-policy': row.policy }
    svg.append(draw('line', { class: 'lead', x1: x(cost(row)), y1: y(row[state.measure]), x2: width - right + 12, y2: at - over }))
    const dot = draw('circle', { ...hold, class: 'dot ' + kind, cx: x(cost(row)), cy: y(row[state.measure]), r: 6, tabindex: 0 })
    const name = draw('text', { ...hold, class: 'name ' + kind, x: width - right + 16, y: at - over + 4 }, row.policy)
    for (const one of [dot, name]) {
      one.addEventListener('mouseenter', () => tell(row))
      one.addEventListener('click', () => choosePolicy(row.policy))
    }
    svg.append(name, dot)
  }
  picture.append(svg)
}
const columns = [
  ['$, 5 min', (row) => dollars(row.dollars5m), 'what would be paid with a cache that lives five minutes: input, summaries, answers whose output is known, and what is looked up again', (paid) => dollars(paid.dollars)],
  ['$, 1 h', (row) => dollars(row.dollars1h), 'the same with a cache that lives an hour', (paid) => dollars(paid.dollars)],
  ['total, 5 min', (row) => millions(row.total5m), 'input and what is looked up again, in millions of plain input tokens, so that models with different prices add up', (paid) => millions(paid.cost)],
  ['total, 1 h', (row) => millions(row.total1h), 'the same with a cache that lives an hour', (paid) => millions(paid.cost)],
  ['of it again', (row) => millions(row.again1h), 'looking up once more what was forgotten and needed (1 h)'],
  ['more rounds', (row) => percent(row.rounds), 'such look-ups for each hundred requests (1 h)'],
  ['from cache', (row) => percent(row.hits), 'per cent of all input that was read from the cache', (paid) => percent(paid.hits)],
  ['needed', (row) => percent(row.need), 'of the paths, names and numbers that later calls used and that had been seen, the per cent in sight'],
  ['edits', (row) => percent(row.edits), 'of the texts that later edits replaced, the per cent in sight word for word'],
  ['words', (row) => percent(row.words), 'of what the person had typed, the per cent in sight'],
  ['said once', (row) => percent(row.once), 'of what was needed and nothing shows again, the per cent in sight'],
  ['reductions', (row) => row.cuts, 'requests before which something was removed'],
  ['at a loss', (row) => row.lost, 'those that cost more than they saved'],
  ['refused', (row) => row.refused, 'requests that a provider would refuse'],
]
function tableOf(rows, recorded) {
  const head = make('tr', {}, make('th', { title: 'a way to choose what is sent' }, 'policy'), ...columns.map(([title, , about]) => make('th', { title: about }, title)))
  const body = make('tbody')
  if (recorded !== null && recorded !== undefined)
    body.append(make('tr', {}, make('td', {}, 'as it was'), ...columns.map(([, , , paid]) => make('td', {}, paid === undefined ? '–' : paid(recorded)))))
  for (const row of rows) {
    const line = make('tr', { 'data-policy': row.policy }, make('td', { class: kinds.get(row.policy) || 'peer' }, row.policy), ...columns.map(([, cell]) => make('td', {}, cell(row))))
    line.addEventListener('mouseenter', () => tell(row))
    line.addEventListener('click', () => choosePolicy(row.policy))
    body.append(line)
  }
  return make('table', {}, make('thead', {}, head), body)
}
page.append(make('h2', {}, 'Policies'),
  make('p', {}, 'Ways to choose what is sent, each played over the same sessions. ' + (data.window === null ? 'Each session has the window of its model' : 'A window of ' + thousands(data.window) + ' tokens') + ' and ' + (data.model === 'recorded' ? 'the prices of its own model' : 'the prices of ' + data.model) + '. Up and to the left is better: more in sight, less paid.'))
const [lifetimeLabel] = choice('cache lifetime', [['1h', '1 hour'], ['5m', '5 minutes']], (value) => { state.lifetime = value; drawPicture() })
const [measureLabel] = choice('kept', Object.entries(measures), (value) => { state.measure = value; drawPicture() })
page.append(lifetimeLabel, measureLabel, picture, pointed, tableAll)
tableAll.append(tableOf(data.all, null))
tell(null)
drawPicture()
page.append(make('details', { id: 'columns' }, make('summary', {}, 'What the columns mean'), make('dl', {}, ...columns.flatMap(([title, , about]) => [make('dt', {}, title), make('dd', {}, about)]))))
for (const group of data.recorded) {
  page.append(make('h2', {}, group.name + ', beside what it paid'), make('div', { class: 'scroll' }, tableOf(group.rows, group.paid)))
}
if (data.agreement.length > 0)
  page.append(make('h2', {}, 'How far our sizes can be trusted'), make('p', {}, 'Each request sent whole, counted by us, over what the provider counted, up to the first reduction.'), make('div', { class: 'scroll', id: 'agreement' }, plain(['models', 'sessions', 'requests', 'at the median', 'a tenth below', 'a tenth above'],
    data.agreement.map((row) => [row.family, row.sessions, row.requests, row.median.toFixed(3), row.low.toFixed(3), row.high.toFixed(3)]))))
`

// The part of the page's script that shows one session: its table, its lost caches, and the window over time.

const windowScript = `
if (data.sessions.length > 0) {
  page.append(make('h2', {}, 'One session'))
  const table = make('div', { class: 'scroll', id: 'session' })
  const losses = make('p', { id: 'losses' })
  const stage = make('div', { id: 'window' })
  const key = make('p')
  const note = make('div', { class: 'note', id: 'moment' })
  const busiest = data.sessions.map((session, at) => [at, Math.max(0, ...Object.values(session.timelines).map((moments) => moments.filter((moment) => moment.at(-1).length > 0).length))])
  const now = { session: busiest.sort((a, b) => b[1] - a[1])[0][0], policy: null, pinned: null }
  const [sessionLabel, sessionSelect] = choice('session', data.sessions.map((session, at) => [at, session.name + ' (' + session.client + ')']), (value) => { now.session = Number(value); now.pinned = null; show() })
  const [policyLabel, policySelect] = choice('policy', [], (value) => { now.policy = value; now.pinned = null; drawWindow() })
  sessionSelect.value = String(now.session)
  page.append(sessionLabel, policyLabel, losses, key, stage, note, table)
  for (const holder of data.holders) key.append(make('span', { class: 'key ' + holder }), holder)
  key.append(make('span', { class: 'key change' }), 'a layer changed something', make('span', { class: 'key bad' }), 'the cache broke; below: ', make('span', { class: 'key read' }), 'read', make('span', { class: 'key written' }), 'written', make('span', { class: 'key fresh' }), 'fresh')
  function show() {
    const session = data.sessions[now.session]
    clear(table)
    table.append(tableOf(session.rows, session.recorded))
    losses.textContent = session.losses.length === 0 ? 'No loss of the cache is recorded.' : session.losses.length + ' times the cache was lost while it was recorded: ' +
      session.losses.slice(0, 12).map((loss) => 'request ' + (loss.step + 1) + ', ' + thousands(loss.tokens) + ' tokens, ' + loss.cause + (loss.cause === 'a pause' ? ' of ' + Math.round(loss.pauseMs / 60000) + ' min' : '')).join('; ') + (session.losses.length > 12 ? ' …' : '')
    const names = Object.keys(session.timelines)
    clear(policySelect)
    for (const name of names) policySelect.append(make('option', { value: name }, name))
    if (!names.includes(now.policy)) now.policy = names.at(-1) || null
    policySelect.value = now.policy
    drawWindow()
  }
  function drawWindow() {
    clear(stage)
    const moments = now.policy === null ? [] : data.sessions[now.session].timelines[now.policy]
    if (!moments || moments.length === 0) { note.textContent = 'This session has no picture.'; return }
    const [width, height, left, right, top, below, bottom] = [1000, 400, 60, 12, 22, 44, 24]
    const base = height - bottom - below - 12
    const count = data.holders.length
    const size = (moment) => moment.slice(1, 1 + count).reduce((sum, one) => sum + one, 0)
    const most = Math.max(...moments.map(size), 1)
    const x = (index) => left + (index / Math.max(1, moments.length - 1)) * (width - left - right)
    const y = (tokens) => base - (tokens / most) * (base - top)
    const svg = draw('svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'the window over time' })
    for (let step = 0; step <= 4; step++) {
      svg.append(draw('line', { class: 'axis', x1: left, x2: width - right, y1: y((most / 4) * step), y2: y((most / 4) * step) }))
      svg.append(draw('text', { x: left - 8, y: y((most / 4) * step) + 4, 'text-anchor': 'end' }, thousands(Math.round((most / 4) * step))))
    }
    const floor = moments.map(() => 0)
    data.holders.forEach((holder, at) => {
      const lower = moments.map((_, index) => x(index).toFixed(1) + ',' + y(floor[index]).toFixed(1))
      moments.forEach((moment, index) => { floor[index] += moment[1 + at] })
      const upper = moments.map((_, index) => x(index).toFixed(1) + ',' + y(floor[index]).toFixed(1))
      svg.append(draw('polygon', { class: holder, points: lower.concat(upper.reverse()).join(' ') }))
    })
    const wide = Math.max(0.6, (width - left - right) / moments.length)
    const full = Math.max(...moments.map((moment) => moment[1 + count] + moment[2 + count] + moment[3 + count]), 1)
    moments.forEach((moment, index) => {
      let from = height - bottom
      for (const [offset, name] of [[2, 'read'], [3, 'written'], [1, 'fresh']]) {
        const tall = (moment[offset + count] / full) * below
        from -= tall
        if (tall > 0.2) svg.append(draw('rect', { class: name, x: x(index) - wide / 2, y: from, width: wide, height: tall }))
      }
      if (moment[4 + count] > 0) svg.append(draw('line', { class: 'break', x1: x(index), x2: x(index), y1: top, y2: base }))
      if (moment.at(-1).length > 0) svg.append(draw('path', { class: 'change', d: 'M' + (x(index) - 5) + ' ' + (top - 14) + 'h10l-5 9z' }))
    })
    svg.append(draw('text', { x: left, y: height - 6 }, 'request 1'), draw('text', { x: width - right, y: height - 6, 'text-anchor': 'end' }, 'request ' + moments.length))
    const cursor = draw('line', { class: 'cursor', x1: -9, x2: -9, y1: top, y2: height - bottom })
    const glass = draw('rect', { x: left, y: 0, width: width - left - right, height: height - bottom, fill: 'transparent', id: 'glass' })
    const indexAt = (event) => {
      const box = svg.getBoundingClientRect()
      const at = ((event.clientX - box.left) / box.width) * width
      return Math.min(moments.length - 1, Math.max(0, Math.round(((at - left) / (width - left - right)) * (moments.length - 1))))
    }
    const point = (index) => { cursor.setAttribute('x1', x(index)); cursor.setAttribute('x2', x(index)); tellMoment(moments[index], index) }
    glass.addEventListener('mousemove', (event) => { if (now.pinned === null) point(indexAt(event)) })
    glass.addEventListener('click', (event) => { const index = indexAt(event); now.pinned = now.pinned === index ? null : index; point(index) })
    svg.append(cursor, glass)
    stage.append(svg)
    note.textContent = 'Point at a request; click to hold it.'
  }
  function tellMoment(moment, index) {
    const count = data.holders.length
    const parts = data.holders.map((holder, at) => holder + ' ' + thousands(moment[1 + at])).join(', ')
    const [fresh, read, written, lost, cold] = moment.slice(1 + count, 6 + count)
    const lines = ['request ' + (index + 1) + ', ' + new Date(moment[0]).toISOString().replace('T', ' ').slice(0, 19) + ': ' + parts, 'read ' + thousands(read) + ', written ' + thousands(written) + ', fresh ' + thousands(fresh)]
    if (lost > 0) lines.push('the cache broke: ' + thousands(lost) + ' cached tokens were sent again, ' + (cold ? 'since it had expired' : moment.at(-1).length > 0 ? 'since what stood before them had changed' : 'for no reason of ours'))
    for (const [layer, why, freed] of moment.at(-1)) lines.push(layer + ' freed ' + thousands(freed) + ': ' + why)
    note.textContent = lines.join('\\n')
  }
  show()
}
if (data.problems.length > 0) page.append(make('h2', {}, 'Problems'), make('div', { class: 'note' }, data.problems.slice(0, 50).join('\\n')))
`

export const pageScript = `'use strict';(() => {${shared}${money}${scatter}${windowScript}})()`
