/** Prices in cents, by kind of job. */
export const prices = {
  sole: 1800,
  heel: 1200,
  stitch: 350,
  polish: 500,
};
