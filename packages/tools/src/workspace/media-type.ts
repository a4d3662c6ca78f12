const signatures: readonly (readonly [mediaType: string, bytes: string, offset?: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'WEBP', 8],
  ['application/pdf', '%PDF-'],
];

/** The media type of an image or document that models can read, by its first bytes: file names are not trusted. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const found = signatures.find(([mediaType, signature, offset = 0]) => {
    if (mediaType === 'image/webp' && !head.startsWith('RIFF')) return false;
    return head.startsWith(signature, offset);
  });
  return found?.[0];
}
