/** A function to import: what an integrand must not do. */
export const halve = (v: number): number => v / 2;
