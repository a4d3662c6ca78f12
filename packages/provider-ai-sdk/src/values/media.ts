/** Media types that every SDK service with file support accepts. */
export const acceptedFiles: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/*',
  'application/json',
];
