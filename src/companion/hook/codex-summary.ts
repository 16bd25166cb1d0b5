// The summary that Codex wrote into its session file at its newest compaction. On the vendor's own service it is encrypted:
// then there is a line without a text, and no audit is possible.
import { readFileWith } from './files.ts'
import { fieldsOf, parseFields, textOf } from './shape.ts'

const tailBytes = 4 * 1024 * 1024

export function codexSummary(transcript: string): string | null {
  const tail = readFileWith(transcript, ({ bytes, read }) => {
    const from = Math.max(0, bytes - tailBytes)
    return read(from, bytes - from).toString('utf8')
  })
  for (const line of (tail ?? '').split('\n').toReversed()) {
    if (!line.slice(0, 200).includes('"compacted"')) continue
    const fields = parseFields(line)
    if (fields?.['type'] === 'compacted') return textOf(fieldsOf(fields['payload'])['message'])
  }
  return null
}
