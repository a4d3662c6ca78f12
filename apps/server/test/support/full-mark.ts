/** Returns the path of a file that, while it exists, makes a server's store reject appends. */
export function fullMark(file: string): string {
  return `${file}.full`;
}
