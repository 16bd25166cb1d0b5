// Sizes and times in the words people use for them: bytes and milliseconds.

export const KB = 1024
export const MB = 1024 * KB
export const second = 1000
export const minute = 60 * second
