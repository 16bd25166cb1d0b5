// One thing that `pal doctor` looked at.

export interface Check {
  readonly what: string
  readonly state: 'good' | 'note' | 'bad'
  readonly found: string
  /** What to do; null where nothing has to be done. */
  readonly fix: string | null
}

export const good = (what: string, found: string): Check => ({ what, state: 'good', found, fix: null })
export const note = (what: string, found: string, fix: string): Check => ({ what, state: 'note', found, fix })
export const bad = (what: string, found: string, fix: string): Check => ({ what, state: 'bad', found, fix })
