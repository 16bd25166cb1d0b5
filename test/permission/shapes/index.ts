// All shapes by class. Each line must be asked about or refused, never run unasked.
import { gitShapes } from './git.ts'
import { languageShapes } from './language.ts'
import { machineShapes } from './machine.ts'
import { programShapes } from './programs.ts'
import { wordShapes } from './words.ts'

/** What a person takes for a blank or does not see at all, and what a shell may take otherwise. */
const unseen = [
  0x0b, 0x0c, 0x0d, 0x85, 0xa0, 0x1680, 0x2000, 0x2003, 0x200b, 0x200d, 0x2028, 0x2029, 0x202e, 0x202f,
]
  .concat([0x205f, 0x2060, 0x2800, 0x3000, 0xfeff, 0xfe0f, 0x34f, 0xad, 0x1b, 0x07, 0x7f])
  .map((code) => String.fromCodePoint(code))

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.replaceAll('⏎', '\n'))

export const shapes: Readonly<Record<string, readonly string[]>> = {
  'blanks that are none': unseen.flatMap((char) => [
    `ls${char};touch F`,
    `touch${char}F`,
    `ls ${char} ; touch F`,
  ]),
  ...Object.fromEntries(
    Object.entries({
      ...languageShapes,
      ...wordShapes,
      ...programShapes,
      ...gitShapes,
      ...machineShapes,
    }).map(([name, text]) => [name, lines(text)]),
  ),
}
