/** Makes the picture of the README: docs/picture.svg and docs/picture-dark.svg. */
import { writeFileSync } from 'node:fs';
import { draw } from './picture/draw.ts';
import { runs } from './picture/runs.ts';

const { light, dark } = draw(await runs());
writeFileSync('docs/picture.svg', light);
writeFileSync('docs/picture-dark.svg', dark);
