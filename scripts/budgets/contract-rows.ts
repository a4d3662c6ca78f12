import { allSuites } from '../contract/suites.ts';

/** How many cases each contract has for each of those that keep it, and how many cannot be asked of them. */
export async function contractRows(): Promise<string[][]> {
  const suites = await allSuites();
  return suites.map(({ name, cases }) => {
    const all = cases();
    const off = all.filter((one) => one.off !== undefined).length;
    return [name, `${all.length - off}`, `${off}`];
  });
}
