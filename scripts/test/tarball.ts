/** A file or link in a tarball. */
export interface Packed {
  readonly path: string;
  readonly text: string;
  /** `2` is a symbolic link. Default `0`, a file. */
  readonly type?: string;
  /** Where a link points to. */
  readonly target?: string;
}

/** Returns an uncompressed tarball with a manifest and other entries, which can be anything. */
export function packedIn(manifest: object, entries: readonly Packed[]): Buffer {
  const all = [{ path: 'package/package.json', text: JSON.stringify(manifest) }, ...entries];
  return Buffer.concat([...all.map(blockOf), Buffer.alloc(1024)]);
}

function blockOf({ path, text, type = '0', target = '' }: Packed): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(path, 0, 100);
  header.write(
    octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(Buffer.byteLength(text), 12) + octal(0, 12),
    100,
  );
  header.write(`        ${type}`, 148);
  header.write(target, 157, 100);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const content = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  content.write(text);
  return Buffer.concat([header, content]);
}
