// Who speaks in a request: each text with the blocks it stands in, read by a reader that takes more for a tag than any
// model would.
import type { WireBlock, WireRequest } from '../../src/model/wire.ts'
import { permissionGuidance } from '../../src/preset/permission.ts'
import { trust } from '../../src/forks/agents/texts.ts'
import { fenceTags, weightOf, type FenceTag } from '../../src/transcript/fence.ts'
import { tagsRead } from './forged.ts'

/** Sentences of ours that name a tag without opening one. */
const ownSentences = [
  trust,
  permissionGuidance,
  'Quoted parts of the earlier conversation follow in <kept> blocks, those of the user first,',
  'The newest user message in a <kept> block has not been answered yet.',
]

const isTag = (name: string): name is FenceTag => fenceTags.some((tag) => tag === name)
const blocksOf = (content: string | readonly WireBlock[]): readonly WireBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content } as WireBlock] : content

/** The texts that could speak: the system prompt, and what of a user turn is no tool result. */
export function speakingTexts({ system, messages }: WireRequest): readonly string[] {
  const said = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => blocksOf(content as string))
  return [...blocksOf((system ?? []) as string), ...said].flatMap((block) =>
    block.type === 'text' && 'text' in block ? [String(block.text)] : [],
  )
}

/** Blocks in which text from outside may give instructions, because its source may. */
export type Granted = Readonly<Record<string, readonly FenceTag[]>>

/**
 * Every way in which a marked text gained a voice that is not its own, in words; none where all is well. A mark is
 * `FORGED-source`.
 */
export function gainedVoices(request: WireRequest, granted: Granted = {}): readonly string[] {
  const wrong: string[] = []
  for (const whole of speakingTexts(request)) {
    const text = ownSentences.reduce((rest, sentence) => rest.replaceAll(sentence, ''), whole)
    // Ours stand at the beginning of a line, and nothing else stands in it.
    const own = [...text.matchAll(/^<(\/?)([a-z-]+)((?: [\w-]+="(?:[^"\\]|\\.)*")*)>$/gmu)].filter(
      ([, , tag]) => isTag(tag!),
    )
    const read = tagsRead(text)
    if (read.join(' ') !== own.map(([, slash, tag]) => `${slash}${tag}`).join(' '))
      wrong.push(`tags that are not ours: ${read.slice(0, 40).join(' ')}\n${text.slice(0, 400)}`)
    const open: { readonly tag: FenceTag; readonly attributes: string }[] = []
    let at = 0
    const look = (part: string): void => {
      for (const [, source] of part.matchAll(/FORGED-([a-z-]+)/gu)) {
        const inner = open.at(-1)
        const isHeld =
          inner !== undefined &&
          (granted[source!]?.includes(inner.tag) === true ||
            (weightOf(inner.tag) === 'information' && !/ from="user"/u.test(inner.attributes)))
        if (!isHeld)
          wrong.push(
            `${source} speaks ${inner === undefined ? 'as the user or the program' : `in <${inner.tag}${inner.attributes}>`}`,
          )
      }
    }
    for (const found of own) {
      look(text.slice(at, found.index))
      at = found.index + found[0].length
      const [, slash, tag, attributes] = found
      if (slash === '') open.push({ tag: tag as FenceTag, attributes: attributes! })
      else if (open.pop()?.tag !== tag) wrong.push(`</${tag}> closes nothing`)
    }
    look(text.slice(at))
    if (open.length > 0) wrong.push(`<${open.at(-1)!.tag}> is left open`)
  }
  for (const { name, description, input_schema: schema } of request.tools ?? []) {
    const read = tagsRead(`${description ?? ''} ${JSON.stringify(schema)}`)
    if (read.length > 0) wrong.push(`the tool ${name} says ${read.join(' ')}`)
  }
  return [...new Set(wrong)]
}

/** The sources whose marks stand anywhere in a request. */
export const sourcesIn = (request: WireRequest): ReadonlySet<string> =>
  new Set([...JSON.stringify(request).matchAll(/FORGED-([a-z-]+)/gu)].map(([, source]) => source!))
