// Which lines are for pal, and how one that looks like it is sent to the model.

/** Whether a line is for pal and not for the model. */
export const isOwnLine = (input: string): boolean =>
  (input.startsWith('/') && !input.startsWith('//')) || /^[!#]\S/.test(input) || input.trim() === '?'

/** What the model gets of a line: two slashes stand for one. */
export const unescaped = (input: string): string => (input.startsWith('//') ? input.slice(1) : input)

/** The line that sends this text to the model. */
export const escaped = (text: string): string => (text.startsWith('/') ? `/${text}` : text)
