// Usage as the whole house counts it; each wire turns its own report into this.
import type { Usage } from '../transcript/fact.ts'

/** Everything that was sent: fresh, read and written. */
export const promptTokens = (usage: Usage): number => usage.input + usage.cacheRead + usage.cacheWrite
