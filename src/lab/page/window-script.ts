// The part of the page's script that shows one session: its table, its lost caches, and the window over time.
export const windowScript = `
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
