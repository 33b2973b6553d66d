/** Reads shapes, which several variables have together: x,y=ball, x,y,z=sphere(2), x,y=simplex(3), x,y=ball(2)@1,0. */
import { ball, type DomainShape, simplex, sphere } from '../integrand/shapes.ts';
import { OptionError } from '../options/option-error.ts';
import { constantOf } from './expression/integrand.ts';
import { UsageError } from './usage-error.ts';

const SHAPES = { ball, sphere, simplex };
export const SHAPE_NAMES = Object.keys(SHAPES);

const SHAPE = /^\s*(ball|sphere|simplex)\s*(?:\((.*)\))?\s*(?:@(.*))?$/;

/** The shape that a text has from `start` on; undefined if it is a range. */
export function shapeIn(text: string, start: number, variables: number): DomainShape | undefined {
  const own = text.slice(start);
  const [, name, inside, behind] = SHAPE.exec(own) ?? [];
  if (name === undefined) return undefined;
  const place = { text, start, end: text.length };
  const what = name === 'simplex' ? 'the size of a simplex' : 'a radius';
  if (inside?.includes(','))
    throw new UsageError(
      `A ${name} has one number in brackets, ${name === 'simplex' ? 'its size' : 'its radius'}.`,
      `Its dimensions are those of its variables: ${text.slice(0, start)}${name}(${inside.split(',').at(-1)!.trim()}).`,
      place,
    );
  const size = inside === undefined ? 1 : constantIn(inside, what, place);
  const centre = behind?.split(',').map(part => constantIn(part, 'a coordinate', place));
  if (centre && name === 'simplex')
    throw new UsageError(
      'A simplex has its corner at 0, and no centre.',
      'Leave out what is behind @.',
      place,
    );
  if (centre && centre.length !== variables)
    throw new UsageError(
      `The centre has ${centre.length} of ${variables} coordinates.`,
      `Write one for each variable: @${Array(variables).fill(0).join(',')}.`,
      place,
    );
  try {
    const make = SHAPES[name as keyof typeof SHAPES];
    return make === simplex ? simplex(variables, size) : make(variables, size, centre && { centre });
  } catch (e) {
    if (!(e instanceof OptionError)) throw e;
    throw e.option === 'dims'
      ? new UsageError(`A ${name} of ${variables} variables is none.`, `Name more: x,y,z=${name}.`, place)
      : new UsageError(`${what} is ${size}.`, 'Give a number above 0.', place);
  }
}

function constantIn(text: string, what: string, place: UsageError['place']): number {
  try {
    return constantOf(text, what);
  } catch (e) {
    if (!(e instanceof UsageError)) throw e;
    throw new UsageError(e.reason, e.remedy, place);
  }
}
