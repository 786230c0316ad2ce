mod paper;
mod parts;
