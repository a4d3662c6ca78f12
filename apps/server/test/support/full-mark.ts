/** While this file is there, the store of a server process refuses what is appended. */
export function fullMark(file: string): string {
  return `${file}.full`;
}
