/** The name of this wire, in items and settings. */
export const geminiName = 'gemini' as const

/** Ids of calls that the server did not name are ours, and are never sent. */
export const ownIdPrefix = 'own_call_'
/** Stands where a signature must, for calls that no model of this maker made. */
export const dummySignature = 'skip_thought_signature_validator'

/** Begins what is said of an answer that the model could not write. */
export const spoiledAnswer = 'no answer came: '
