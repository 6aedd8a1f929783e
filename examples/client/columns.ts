/** What `starMap { columns }` holds: arrays of equal length, parents before children. */
export interface Columns {
  id: string[]
  /** The place of the parent in these arrays, -1 for a root. */
  parent: number[]
  /** The place of what a fork came from, -1 where there is none in this map. */
  source: number[]
  label: string[]
  /** 1: archived. */
  status: number[]
  /** 1: MAIN. */
  role: number[]
  depth: number[]
  index: number[]
  childCount: number[]
  turnCount: number[]
  /** Milliseconds. */
  lastActiveAt: number[]
  /** Pairs of places: from, to. */
  refs: [number, number][]
}
