// What stands for a trimmed span where no model writes it. The same for every policy, so that policies are compared
// and not those who summarise. It says plainly what it is.
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { atomsOf } from '../measuring/atoms.ts'
import { textOf } from '../measuring/texts.ts'

export type TrimText = 'extract' | 'bag' | 'none'

export function textFor(kind: TrimText, parts: readonly Part[]): string {
  if (kind === 'none') return '[Earlier rounds were cut off here.]'
  return kind === 'bag' ? bagOf(parts) : extractOf(parts)
}

/** One paragraph: which files were at hand, and how the assistant's last words went. */
function extractOf(parts: readonly Part[]): string {
  const { extractChars, extractPaths, extractWordsChars } = defaults.lab
  const paths = frequent(parts, (atom) => atom.includes('/')).slice(0, extractPaths)
  const words = parts
    .filter((part) => part.kind === 'answer')
    .flatMap((part) => part.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
    .join('\n')
  const before = parts.find((part) => part.kind === 'edit')?.blocks[0]
  const earlier = before?.type === 'text' ? before.text.slice(-extractWordsChars) : ''
  const text = [
    `[An extract made without a model stands here for ${parts.length} earlier messages.]`,
    ...(earlier === '' ? [] : [`Of what was extracted before: ${earlier}`]),
    ...(paths.length === 0 ? [] : [`Files at hand: ${paths.join(', ')}`]),
    ...(words === '' ? [] : [`The assistant said last: ${words.slice(-extractWordsChars)}`]),
  ].join('\n')
  return text.slice(0, extractChars).toWellFormed()
}

/** Every atom of the span and nothing of what it meant: the policy that a measure must not fall for. */
function bagOf(parts: readonly Part[]): string {
  const { bagChars } = defaults.lab
  const lines: string[] = ['[Words that occurred earlier:]']
  let left = bagChars
  for (const atom of frequent(parts, () => true)) {
    left -= atom.length + 1
    if (left < 0) break
    lines.push(atom)
  }
  return lines.join('\n')
}

function frequent(parts: readonly Part[], wanted: (atom: string) => boolean): readonly string[] {
  const counts = new Map<string, number>()
  for (const part of parts) {
    for (const block of part.blocks) {
      for (const atom of atomsOf(textOf({ ...block })))
        if (wanted(atom)) counts.set(atom, (counts.get(atom) ?? 0) + 1)
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([atom]) => atom)
}
