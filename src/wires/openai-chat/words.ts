/** The name of this wire, in items and settings. */
export const chatWire = 'openai-chat' as const
