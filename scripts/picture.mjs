// `npm run house -- --picture` and `--picture --write`: the house as ARCHITECTURE.md opens with it, drawn from the ranks
// and the real imports between rooms. test/house.test.ts says when the page is no longer current.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const src = join(root, 'src')
const page = join(root, 'ARCHITECTURE.md')
const ranks = JSON.parse(readFileSync(join(root, 'scripts', 'ranks.json'), 'utf8'))
const [begin, end] = [
  '<!-- picture: npm run house -- --picture --write -->\n```\n',
  '```\n<!-- end of picture -->',
]
const width = 60

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}
const roomOf = (file) => relative(src, file).split(/[/\\]/)[0].replace(/\.ts$/, '')

/** Which rooms each room imports. */
function uses() {
  const found = new Map(Object.keys(ranks).map((room) => [room, new Set()]))
  for (const file of filesBelow(src)) {
    if (!/\.tsx?$/.test(file) || file.endsWith('.test.ts')) continue
    for (const [, target] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const to = roomOf(resolve(dirname(file), target))
      if (to !== roomOf(file) && to in ranks) found.get(roomOf(file))?.add(to)
    }
  }
  return found
}

/** One floor for each rank, the roof first; below it, what each room leans on. */
export function picture() {
  const byRank = new Map()
  for (const [room, rank] of Object.entries(ranks)) byRank.set(rank, [...(byRank.get(rank) ?? []), room])
  const ordered = [...byRank].sort(([a], [b]) => b - a)
  const line = (left, right) => `     ${left}${'─'.repeat(width)}${right}\n`
  let text = line('┌', '┐')
  for (const [index, [rank, rooms]] of ordered.entries()) {
    if (index > 0) text += line('├', '┤')
    const each = Math.floor((width - (rooms.length - 1)) / rooms.length)
    const cells = rooms.map((room, at) => {
      const size = at === rooms.length - 1 ? width - (each + 1) * (rooms.length - 1) : each
      return ` ${room}`.padEnd(size)
    })
    text += `${String(rank).padStart(4)} │${cells.join('│')}│\n`
  }
  text += `${line('└', '┘')}\n`
  const used = uses()
  for (const [, rooms] of ordered)
    for (const room of rooms) {
      const below = [...used.get(room)].sort((a, b) => ranks[b] - ranks[a] || a.localeCompare(b))
      text += `     ${room.padEnd(11)}→ ${below.length === 0 ? 'nothing of ours' : below.join(' ')}\n`
    }
  return text
}

/** What ARCHITECTURE.md shows now. */
export function shownPicture() {
  const text = readFileSync(page, 'utf8')
  return text.slice(text.indexOf(begin) + begin.length, text.indexOf(end))
}

export function writePicture() {
  const text = readFileSync(page, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`${page} has no place for the picture`)
  writeFileSync(page, `${text.slice(0, from)}${begin}${picture()}${text.slice(to)}`)
}
