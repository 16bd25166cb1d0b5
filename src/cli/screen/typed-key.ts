import { parseKey } from '@earendil-works/pi-tui'

/** Whether a person pressed it: a terminal also answers what it is asked. */
export const isTyped = (data: string): boolean =>
  !data.startsWith('\u001B') || data.startsWith('\u001B[200~') || parseKey(data) !== undefined
