/** Types that every service of the SDK with support for files accepts. */
export const acceptedFiles: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/*',
  'application/json',
];
