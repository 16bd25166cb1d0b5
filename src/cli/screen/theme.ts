// The looks of the screen, in one place. Without colours every function gives its text back, so that nothing else asks.
import type { EditorTheme, MarkdownTheme, SelectListTheme } from '@earendil-works/pi-tui'

export type Paint = (text: string) => string

export interface Theme {
  readonly strong: Paint
  readonly faint: Paint
  readonly user: Paint
  readonly accent: Paint
  readonly good: Paint
  readonly bad: Paint
  readonly warn: Paint
  readonly markdown: MarkdownTheme
  readonly list: SelectListTheme
  readonly editor: EditorTheme
}

const plain: Paint = (text) => text
/** An attribute and what takes it back, so that paints nest. */
const paint =
  (on: number, off: number): Paint =>
  (text) =>
    `\u001B[${on}m${text}\u001B[${off}m`

export function themeOf(hasColours: boolean): Theme {
  const of = (on: number, off: number): Paint => (hasColours ? paint(on, off) : plain)
  const [strong, faint, italic, under, struck] = [of(1, 22), of(2, 22), of(3, 23), of(4, 24), of(9, 29)]
  const [bad, good, warn, accent] = [of(31, 39), of(32, 39), of(33, 39), of(36, 39)]
  const list: SelectListTheme = {
    selectedPrefix: accent,
    selectedText: accent,
    description: faint,
    scrollInfo: faint,
    noMatch: faint,
  }
  return {
    strong,
    faint,
    user: accent,
    accent,
    good,
    bad,
    warn,
    list,
    editor: { borderColor: faint, selectList: list },
    markdown: {
      heading: (text) => strong(accent(text)),
      link: under,
      linkUrl: faint,
      code: accent,
      codeBlock: plain,
      codeBlockBorder: faint,
      quote: italic,
      quoteBorder: faint,
      hr: faint,
      listBullet: accent,
      bold: strong,
      italic,
      strikethrough: struck,
      underline: under,
    },
  }
}
