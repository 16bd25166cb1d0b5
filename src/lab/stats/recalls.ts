// How many memories were recalled in a session, and how many of them were of use: a later answer or call has at least two
// telling words of the memory that the user had not said. An estimate, and a low one: what a memory kept from being done is
// not seen. Nothing of what was said is kept.
import { textIn } from '../../transcript/content.ts'
import { isRealInput, type Fact, type FactOf } from '../../transcript/fact.ts'

interface Open {
  readonly words: ReadonlySet<string>
  readonly met: Set<string>
}

export class Recalls {
  #recalled = 0
  #used = 0
  #open: Open[] = []
  /** What the user said, by its words. */
  readonly #said = new Set<string>()

  take(fact: Fact): void {
    if (isRealInput(fact)) for (const word of wordsIn(textIn(fact.content))) this.#said.add(word)
    else if (fact.type === 'memory-recall') this.#recall(fact)
    else if (fact.type === 'assistant-message') this.#answer(fact)
  }

  counts(): { readonly recalled: number; readonly used: number } {
    return { recalled: this.#recalled, used: this.#used }
  }

  #recall({ files, text }: FactOf<'memory-recall'>): void {
    this.#recalled += files.length
    for (const [, body] of text.matchAll(/<memory [^>]*>\n([\s\S]*?)\n<\/memory>/gu)) {
      const words = new Set([...wordsIn(body!)].filter((word) => !this.#said.has(word)))
      this.#open.push({ words, met: new Set() })
    }
  }

  #answer({ content }: FactOf<'assistant-message'>): void {
    if (this.#open.length === 0) return
    const words = wordsIn(
      content
        .map((block) =>
          block.type === 'text' ? block.text : block.type === 'tool_use' ? JSON.stringify(block.input) : '',
        )
        .join('\n'),
    )
    for (const { words: telling, met } of this.#open)
      for (const word of words) if (telling.has(word)) met.add(word)
    const used = this.#open.filter(({ met }) => met.size >= tellingWords)
    this.#used += used.length
    this.#open = this.#open.filter((one) => !used.includes(one))
  }
}

const tellingWords = 2
const leastChars = 5
const wordsIn = (text: string): ReadonlySet<string> =>
  new Set(
    (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? [])
      .map((word) => word.replace(/[._-]+$/u, ''))
      .filter((word) => word.length >= leastChars || /\p{N}/u.test(word)),
  )
