// The script of the page, as text: it is not ours to run here. It reads the data of the page and draws; every word of it
// becomes a text node.
import { windowScript } from './window-script.ts'

const shared = `
const data = JSON.parse(document.getElementById('data').textContent)
const page = document.getElementById('page')
const svgSpace = 'http://www.w3.org/2000/svg'
function make(name, fields, ...inside) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(fields || {})) made.setAttribute(key, String(value))
  for (const one of inside) made.append(typeof one === 'object' ? one : document.createTextNode(String(one)))
  return made
}
function draw(name, fields, ...inside) {
  const made = document.createElementNS(svgSpace, name)
  for (const [key, value] of Object.entries(fields || {})) made.setAttribute(key, String(value))
  for (const one of inside) made.append(typeof one === 'object' ? one : document.createTextNode(String(one)))
  return made
}
const percent = (share) => (share === null ? '–' : (share * 100).toFixed(1))
const millions = (tokens) => (tokens / 1e6).toFixed(2)
const thousands = (tokens) => (tokens >= 1000 ? Math.round(tokens / 1000) + 'K' : String(tokens))
const dollars = (value) => (value === null ? '–' : '$' + value.toFixed(2))
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

const scatter = `
const state = { lifetime: '1h', measure: 'need', policy: null }
const measures = { need: 'needs still in sight', bare: 'needs in sight, bare', edits: 'edits ready', words: 'words of the user' }
const picture = make('div', { id: 'picture' })
const told = make('div', { class: 'note', id: 'told' })
const tableAll = make('div', { class: 'scroll', id: 'all' })
function tell(row) {
  if (!row) { told.textContent = 'Point at a policy.'; return }
  told.textContent = row.policy + ': ' + (abouts.get(row.policy) || '') + '\\n' + millions(row.cost5m) + ' / ' + millions(row.cost1h) +
    ' million equivalents at 5 minutes / 1 hour (' + dollars(row.dollars5m) + ' / ' + dollars(row.dollars1h) + '); needs ' + percent(row.need) + ' %, edits ' +
    percent(row.edits) + ' %, words ' + percent(row.words) + ' %; ' + row.lost + ' of ' + row.cuts + ' reductions lost money'
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
  const cost = (row) => (state.lifetime === '1h' ? row.cost1h : row.cost5m)
  const most = Math.max(1, ...rows.map(cost)) * 1.04
  const ticks = [1, 0.99, 0.98, 0.95, 0.9, 0.75, 0.5, 0.25, 0]
  const lowest = Math.min(0.95, ...rows.map((row) => row[state.measure]))
  const least = ticks.find((tick) => tick <= lowest)
  const x = (value) => left + (value / most) * (width - left - right)
  // What is lost counts, so near everything the scale is stretched.
  const depth = (share) => Math.log((1 - share + 0.004) / 0.004)
  const y = (share) => top + (depth(share) / depth(least)) * (height - top - bottom)
  const svg = draw('svg', { viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': 'cost and what is kept' })
  for (let step = 0; step <= 5; step++) {
    const at = (most / 5) * step
    svg.append(draw('line', { class: 'axis', x1: x(at), x2: x(at), y1: top, y2: height - bottom }))
    svg.append(draw('text', { x: x(at), y: height - bottom + 18, 'text-anchor': 'middle' }, millions(at)))
  }
  for (const share of ticks.filter((tick) => tick >= least)) {
    svg.append(draw('line', { class: 'axis', x1: left, x2: width - right, y1: y(share), y2: y(share) }))
    svg.append(draw('text', { x: left - 8, y: y(share) + 4, 'text-anchor': 'end' }, (share * 100).toFixed(0) + ' %'))
  }
  svg.append(draw('text', { x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle' }, 'cost, millions of input-token equivalents'))
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
const columns = [['cost 5m', (row) => millions(row.cost5m)], ['cost 1h', (row) => millions(row.cost1h)], ['$ 5m', (row) => dollars(row.dollars5m)],
  ['$ 1h', (row) => dollars(row.dollars1h)], ['hits', (row) => percent(row.hits)], ['need', (row) => percent(row.need)], ['bare', (row) => percent(row.bare)],
  ['edits', (row) => percent(row.edits)], ['words', (row) => percent(row.words)], ['cuts', (row) => row.cuts], ['lost', (row) => row.lost], ['refused', (row) => row.refused]]
function tableOf(rows, recorded) {
  const head = make('tr', {}, make('th', {}, 'policy'), ...columns.map(([title]) => make('th', {}, title)))
  const body = make('tbody')
  if (recorded !== null && recorded !== undefined)
    body.append(make('tr', {}, ...['as recorded', millions(recorded.cost), millions(recorded.cost), dollars(recorded.dollars), dollars(recorded.dollars), percent(recorded.hits)].map((cell) => make('td', {}, cell)), ...columns.slice(5).map(() => make('td', {}, '–'))))
  for (const row of rows) {
    const line = make('tr', { 'data-policy': row.policy }, make('td', { class: kinds.get(row.policy) || 'peer' }, row.policy), ...columns.map(([, cell]) => make('td', {}, cell(row))))
    line.addEventListener('mouseenter', () => tell(row))
    line.addEventListener('click', () => choosePolicy(row.policy))
    body.append(line)
  }
  return make('table', {}, make('thead', {}, head), body)
}
page.append(make('h1', {}, 'Replay of ' + data.sessions.length + ' sessions'),
  make('p', {}, 'Window ' + thousands(data.window) + ' tokens, prices of ' + data.model + '. Cost in millions of input-token equivalents; what is kept as a share of what later answers needed. Up and to the left is better.'))
const [lifetimeLabel] = choice('cache lifetime', [['1h', '1 hour'], ['5m', '5 minutes']], (value) => { state.lifetime = value; drawPicture() })
const [measureLabel] = choice('kept', Object.entries(measures), (value) => { state.measure = value; drawPicture() })
page.append(lifetimeLabel, measureLabel, picture, told, tableAll)
tableAll.append(tableOf(data.all, null))
tell(null)
drawPicture()
for (const group of data.recorded) {
  page.append(make('h2', {}, 'What ' + group.name + ' paid'), make('p', {}, 'As recorded, by the counts of the provider, beside the replays of the same sessions.'), make('div', { class: 'scroll' }, tableOf(group.rows, group.paid)))
}
`

export const pageScript = `'use strict';(() => {${shared}${scatter}${windowScript}})()`
