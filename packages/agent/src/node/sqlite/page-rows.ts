import type { DatabasePages } from './page-file.ts';

type Value = number | string | null;

/** A row read from a page. */
export interface PageRow {
  /** Number of the row; undefined in an index. */
  readonly rowid: number | undefined;
  readonly values: readonly Value[];
}

/** Location of a row, for reading it again. */
export interface RowPlace {
  readonly page: number;
  readonly offset: number;
  readonly isIndex: boolean;
}

const indexPage = 10;
const innerIndexPage = 2;

/** Yields the rows that a page may contain. In a damaged one every offset is tried, so the caller must validate them. */
export function* rowsOf(file: DatabasePages, number: number): Generator<PageRow & RowPlace> {
  const page = file.page(number);
  const type = page[0];
  const isIndex = type === indexPage || type === innerIndexPage;
  // The offset list ends where the first row starts; a damaged page's own count is not trusted.
  let end = file.pageSize;
  for (let at = type === innerIndexPage ? 12 : 8; at + 2 <= end; at += 2) {
    const offset = page.readUInt16BE(at);
    if (offset <= at || offset >= file.pageSize) continue;
    end = Math.min(end, offset);
    const place = { page: number, offset: type === innerIndexPage ? offset + 4 : offset, isIndex };
    const row = rowAt(file, place);
    if (row !== undefined) yield { ...row, ...place };
  }
}

/** Returns the row at a location, or undefined if there is none. */
export function rowAt(file: DatabasePages, { page: number, offset, isIndex }: RowPlace): PageRow | undefined {
  try {
    const page = file.page(number);
    const [length, afterLength] = varint(page, offset);
    const [rowid, begin] = isIndex ? [undefined, afterLength] : varint(page, afterLength);
    return { rowid, values: record(payload(file, page, { begin, length, isIndex })) };
  } catch (error) {
    // A number in the row points outside the page.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

interface Extent {
  readonly begin: number;
  readonly length: number;
  readonly isIndex: boolean;
}

/**
 * Returns the bytes of a row: the start on its page and the rest on a chain of overflow pages.
 * @throws RangeError
 */
function payload(file: DatabasePages, page: Buffer, { begin, length, isIndex }: Extent): Buffer {
  const size = file.pageSize;
  if (length < 1 || length > file.count * size) throw new RangeError('invalid row length');
  const maxLocal = isIndex ? Math.floor(((size - 12) * 64) / 255) - 23 : size - 35;
  const minLocal = Math.floor(((size - 12) * 32) / 255) - 23;
  const wanted = minLocal + ((length - minLocal) % (size - 4));
  const local = length <= maxLocal ? length : wanted <= maxLocal ? wanted : minLocal;
  if (begin + local > size) throw new RangeError('beyond the page');
  const parts = [page.subarray(begin, begin + local)];
  let next = local < length ? page.readUInt32BE(begin + local) : 0;
  for (let rest = length - local; rest > 0; rest -= size - 4) {
    if (next < 2 || next > file.count) throw new RangeError('no such page');
    const part = file.page(next);
    parts.push(part.subarray(4, 4 + Math.min(rest, size - 4)));
    next = part.readUInt32BE(0);
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** Returns the values of a record; null for floating-point numbers and blobs, which no searched table contains. */
function record(bytes: Buffer): Value[] {
  const [headerLength, first] = varint(bytes, 0);
  if (headerLength > bytes.length) throw new RangeError('beyond the record');
  const values: Value[] = [];
  let body = headerLength;
  for (let at = first; at < headerLength; ) {
    const [type, after] = varint(bytes, at);
    at = after;
    const length = type >= 12 ? Math.floor((type - 12) / 2) : (integerBytes[type] ?? 8);
    if (body + length > bytes.length) throw new RangeError('beyond the record');
    if (type >= 13 && type % 2 === 1) values.push(bytes.toString('utf8', body, body + length));
    else if (type === 6) values.push(Number(bytes.readBigInt64BE(body)));
    else if (type >= 1 && type <= 5) values.push(bytes.readIntBE(body, length));
    else values.push(type === 8 ? 0 : type === 9 ? 1 : null);
    body += length;
  }
  return values;
}

/** Length in bytes of a value, by its type. */
const integerBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];

/** Reads a number of 1 to 9 bytes; returns it and the next offset. Too large numbers stay too large and never negative. */
function varint(bytes: Buffer, offset: number): [value: number, after: number] {
  let value = 0;
  for (let at = offset; at < offset + 8; at += 1) {
    const byte = bytes.readUInt8(at);
    value = value * 128 + (byte & 127);
    if (byte < 128) return [value, at + 1];
  }
  return [value * 256 + bytes.readUInt8(offset + 8), offset + 9];
}
