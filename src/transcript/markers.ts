// Texts that more than one room writes or that code reads back: each stands here once, so that who writes and who reads
// cannot come apart.

/** The one way in which the model is told how to get something back. */
export const expandCall = (ref: string | number): string => `Expand {"ref": "${ref}"}`

/** How the text of a call that was cut short begins. */
export const interruptedMark = '[interrupted]'
export const interruptedBy = (why: string): string => `${interruptedMark} ${why}`

/** A Read of a file that is still in view as it is: the result of that call is not repeated. */
export const unchangedNote = (path: string, call: string): string =>
  `[unchanged: ${path} is the same as shown above in this conversation (${call})]`
const unchangedShape = /^\[unchanged: .*\((\S+)\)\]$/su
export const unchangedSince = (text: string): string | null =>
  text.startsWith('[unchanged: ') ? (unchangedShape.exec(text.trimEnd())?.[1] ?? null) : null

/** A result whose content was removed; what follows says what it held. */
export const clearedMark = '[Result cleared to save context'

/** The kind of attachment that says what holds now; an older one holds no longer, so nothing quotes it. */
export const modeKind = 'mode'
