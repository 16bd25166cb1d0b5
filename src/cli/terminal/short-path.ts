/** A path as people write it: `~` for their home. */
export const shortPath = (path: string, home: string): string =>
  path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
