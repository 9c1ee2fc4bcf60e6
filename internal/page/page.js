"use strict";

// element makes an element of the page, shape one of a drawing.
function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

function shape(name, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  return e;
}

const number = v => v.toLocaleString("en", {maximumSignificantDigits: 4});

// niceSpacing is the smallest of 1, 2 or 5 times a power of ten that is at least x.
function niceSpacing(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].find(m => m * power >= x * 0.999999) * power;
}
