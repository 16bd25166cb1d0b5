// Words from outside that come to stand inside fences of ours.

/** What fences the text of a summary must not stand in it, or it could speak with the user's voice. */
export const unfenced = (account: string): string => account.replaceAll(/<(?=\/?(?:account|kept)\b)/giu, '‹')
