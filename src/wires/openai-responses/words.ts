/** The name of this wire, in items and settings. */
export const responsesWire = 'openai-responses' as const
