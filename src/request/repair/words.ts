// What repair says where something is missing. The model reads these lines, so each says only what is known.

/** Nobody knows how far a call without a result came: it must not be told that nothing happened. */
export const missingResult =
  '[No result was recorded for this call. It was interrupted or its result was lost; check whether it took effect before repeating it.]'
export const truncatedCall =
  '[The arguments of this call were truncated before they were complete. The call was not run; send it again in full.]'
export const noOutput = '(no output)'
export const failedWithMedia = '(The call failed; what it returned stands below.)'
export const emptyUser = '(no content)'
export const opening = '(The earlier part of this conversation is not shown.)'
export const continueText = 'Continue.'
/** Follows reasoning that led to no visible output; the wire refuses a message that ends in reasoning. */
export const noAnswer = '(no answer)'
