//! A recursive-descent parser; each method reads one strength of operators, the weakest first.

use super::token::{Token, tokens};
use super::tree::{Comparison, Comprehension, Node, Operator};
use super::{DEEPEST, ExpressionError};
use crate::value::Value;

type Parsed = Result<Node, ExpressionError>;

const KEY_WORDS: [&str; 9] = ["or", "and", "not", "in", "if", "else", "for", "True", "False"];
const SUMS: [(&str, Operator); 2] = [("+", Operator::Add), ("-", Operator::Subtract)];
const PRODUCTS: [(&str, Operator); 4] = [
    ("*", Operator::Multiply),
    ("/", Operator::Divide),
    ("//", Operator::FloorDivide),
    ("%", Operator::Remainder),
];
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<", Comparison::Less),
    ("<=", Comparison::LessEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
];

/// The tree of a text, and the names that need a value.
pub(super) fn parse(text: &str) -> Result<(Node, Vec<String>), ExpressionError> {
    let mut parser =
        Parser { tokens: tokens(text)?, next: 0, depth: 0, bound: Vec::new(), names: Vec::new() };
    let root = parser.expression()?;
    match parser.tokens.get(parser.next) {
        None => Ok((root, parser.names)),
        Some(_) => Err(parser.wrong("something is left over")),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    /// Names of the comprehensions around.
    bound: Vec<String>,
    names: Vec<String>,
}

impl Parser {
    fn wrong(&self, problem: &str) -> ExpressionError {
        let after = self.tokens.last().map_or(1, |(at, _)| at + 1);
        let at = self.tokens.get(self.next).map_or(after, |(at, _)| *at);
        ExpressionError::Syntax { at, problem: problem.to_owned() }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    /// Takes the next token if it is this sign or key word.
    fn take(&mut self, wanted: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Word(word)) => word == wanted,
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    fn need(&mut self, wanted: &str) -> Result<(), ExpressionError> {
        if self.take(wanted) { Ok(()) } else { Err(self.wrong(&format!("`{wanted}` is missing here"))) }
    }

    /// Reads something one level deeper.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= DEEPEST {
            return Err(ExpressionError::Limit { what: "levels of nesting", most: DEEPEST });
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn expression(&mut self) -> Parsed {
        self.deeper(|parser| {
            let value = parser.alternative()?;
            if !parser.take("if") {
                return Ok(value);
            }
            let condition = parser.alternative()?;
            parser.need("else")?;
            let other = parser.expression()?;
            Ok(Node::If(Box::new([condition, value, other])))
        })
    }

    fn alternative(&mut self) -> Parsed {
        let first = self.conjunction()?;
        let mut all = vec![first];
        while self.take("or") {
            all.push(self.conjunction()?);
        }
        Ok(single_or(all, Node::Or))
    }

    fn conjunction(&mut self) -> Parsed {
        let first = self.negation()?;
        let mut all = vec![first];
        while self.take("and") {
            all.push(self.negation()?);
        }
        Ok(single_or(all, Node::And))
    }

    fn negation(&mut self) -> Parsed {
        if self.take("not") {
            return self.deeper(|parser| Ok(Node::Not(Box::new(parser.negation()?))));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.chain(&SUMS, |parser| parser.chain(&PRODUCTS, Self::sign))?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_sign()? {
            rest.push((comparison, self.chain(&SUMS, |parser| parser.chain(&PRODUCTS, Self::sign))?));
        }
        Ok(if rest.is_empty() { first } else { Node::Compare(Box::new(first), rest) })
    }

    fn comparison_sign(&mut self) -> Result<Option<Comparison>, ExpressionError> {
        if self.take("in") {
            return Ok(Some(Comparison::In));
        }
        if self.take("not") {
            self.need("in")?;
            return Ok(Some(Comparison::NotIn));
        }
        Ok(COMPARISONS.iter().find(|(sign, _)| self.take(sign)).map(|(_, comparison)| *comparison))
    }

    fn chain(&mut self, operators: &[(&str, Operator)], part: impl Fn(&mut Self) -> Parsed) -> Parsed {
        let first = part(self)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            rest.push((*operator, part(self)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Chain(Box::new(first), rest) })
    }

    fn sign(&mut self) -> Parsed {
        if self.take("-") {
            return self.deeper(|parser| Ok(Node::Negative(Box::new(parser.sign()?))));
        }
        if self.take("+") {
            return self.deeper(Self::sign);
        }
        let base = self.atom()?;
        if self.take("**") {
            return self.deeper(|parser| Ok(Node::Power(Box::new(base), Box::new(parser.sign()?))));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Parsed {
        let Some((_, token)) = self.tokens.get(self.next).cloned() else {
            return Err(self.wrong("the expression ends here"));
        };
        match token {
            Token::Integer(number) => Ok(self.constant(Value::Integer(number))),
            Token::Real(number) => Ok(self.constant(Value::Real(number))),
            Token::Text(text) => Ok(self.constant(Value::Text(text))),
            Token::Word(word) if word == "True" => Ok(self.constant(Value::Boolean(true))),
            Token::Word(word) if word == "False" => Ok(self.constant(Value::Boolean(false))),
            Token::Word(word) if !KEY_WORDS.contains(&word.as_str()) => {
                self.next += 1;
                if self.take("(") {
                    return Ok(Node::Call(word, self.elements(Vec::new(), ")")?));
                }
                Ok(self.name(word))
            }
            Token::Sign("(") => {
                self.next += 1;
                if self.take(")") {
                    return Ok(Node::List(Vec::new()));
                }
                let first = self.expression()?;
                if self.take(",") {
                    return Ok(Node::List(self.elements(vec![first], ")")?));
                }
                self.need(")")?;
                Ok(first)
            }
            Token::Sign("[") => {
                self.next += 1;
                self.list()
            }
            _ => Err(self.wrong("a value is missing here")),
        }
    }

    fn constant(&mut self, value: Value) -> Node {
        self.next += 1;
        Node::Constant(value)
    }

    fn name(&mut self, word: String) -> Node {
        if !self.bound.contains(&word) && !self.names.contains(&word) {
            self.names.push(word.clone());
        }
        Node::Name(word)
    }

    /// Elements up to the closing sign, a comma behind the last one allowed.
    fn elements(&mut self, mut elements: Vec<Node>, closing: &str) -> Result<Vec<Node>, ExpressionError> {
        loop {
            if self.take(closing) {
                return Ok(elements);
            }
            elements.push(self.expression()?);
            if !self.take(",") {
                self.need(closing)?;
                return Ok(elements);
            }
        }
    }

    fn list(&mut self) -> Parsed {
        if self.take("]") {
            return Ok(Node::List(Vec::new()));
        }
        let start = self.next;
        // The element of a comprehension comes before its name is known, so the name is looked for first.
        let comprehension = self.comprehension_name();
        let named = comprehension.is_some();
        self.bound.extend(comprehension);
        self.next = start;
        let element = self.expression()?;
        if named && self.take("for") {
            self.next += 1;
            self.need("in")?;
            let name = self.bound.pop().unwrap_or_default();
            let source = self.alternative()?;
            self.bound.push(name.clone());
            let condition = if self.take("if") { Some(self.alternative()?) } else { None };
            self.bound.pop();
            self.need("]")?;
            return Ok(Node::Comprehension(Box::new(Comprehension { element, name, source, condition })));
        }
        if named {
            self.bound.pop();
        }
        if self.take(",") {
            return Ok(Node::List(self.elements(vec![element], "]")?));
        }
        self.need("]")?;
        Ok(Node::List(vec![element]))
    }

    /// The name behind the `for` of this list, if it has one.
    fn comprehension_name(&self) -> Option<String> {
        let mut depth = 0_usize;
        for (at, (_, token)) in self.tokens.iter().enumerate().skip(self.next) {
            match token {
                Token::Sign("(" | "[") => depth += 1,
                Token::Sign(")" | "]") if depth == 0 => return None,
                Token::Sign(")" | "]") => depth -= 1,
                Token::Word(word) if word == "for" && depth == 0 => {
                    return match self.tokens.get(at + 1) {
                        Some((_, Token::Word(name))) if !KEY_WORDS.contains(&name.as_str()) => {
                            Some(name.clone())
                        }
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        None
    }
}

fn single_or(mut nodes: Vec<Node>, make: fn(Vec<Node>) -> Node) -> Node {
    if nodes.len() == 1 { nodes.swap_remove(0) } else { make(nodes) }
}
