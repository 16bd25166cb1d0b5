// What instruction files say about compaction: a section whose heading is Compaction, or Compact instructions,
// is handed to whoever writes a summary, behind what the user asks for at the moment.

const heading = /^(#{1,6})\s+(?:compaction|compact(?:ion)?\s+instructions)\s*#*\s*$/i

/** The texts of such sections, in their order; null where there is none. */
export function compactionWishes(reminder: string | null): string | null {
  if (reminder === null) return null
  const found: string[] = []
  let level = 0
  for (const line of reminder.split('\n')) {
    const opens = heading.exec(line)
    const other = /^(#{1,6})\s/.exec(line)
    if (opens !== null) level = opens[1]!.length
    else if (other !== null && other[1]!.length <= level) level = 0
    else if (level > 0) found.push(line)
  }
  const text = found.join('\n').trim()
  return text === '' ? null : text
}
