/** An amount of cents as people write it: 1850 is `18.50`. */
export function formatCents(cents) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}
