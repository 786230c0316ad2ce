//! The index of the documents has a row with a link for every section of theirs.

use super::Finding;
use super::tree::Tree;

const INDEX: &str = "docs/seeds.md";

/// The sections of the documents, in the documents' own words and order.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "Coordinación y acuerdo",
        &[
            "Introducción",
            "Exclusión mutua distribuida: algoritmo, requisitos",
            "Exclusión mutua distribuida: criterios de evaluación",
            "Algoritmo con servidor central",
            "Algoritmo basado en anillo (token-ring)",
            "Algoritmo de Ricart y Agrawala",
            "Algoritmo de Maekawa",
            "Exclusión mutua distribuida: comparación",
            "Elección distribuida: objetivo, consideraciones, requisitos",
            "Algoritmo en anillo",
            "Algoritmo abusón (bully)",
            "Elección distribuida: comparación",
            "Multidifusión: objetivo, modelo del sistema",
            "Multidifusión básica",
            "Multidifusión fiable",
            "Multidifusión fiable sobre IP-multicast",
            "Multidifusión ordenada",
            "Multidifusión ordenada FIFO",
            "Multidifusión ordenada causal",
            "Multidifusión ordenada total",
            "Multidifusión ordenada total por acuerdo (ISIS)",
            "Consenso distribuido: modelo, definición, condiciones",
            "El problema de los generales bizantinos",
            "Imposibilidad",
            "Algoritmo Paxos",
            "Influencia de Paxos",
            "2PC: Protocolo de bloqueo del turno",
            "Algoritmo Paxos: versiones",
            "Raft",
            "PBFT",
            "Resumen",
            "Referencias",
        ],
    ),
    (
        "Coordenação e Consenso",
        &[
            "Exclusão mútua distribuída",
            "Algoritmos de exclusão mútua",
            "Algoritmo do servidor central",
            "Algoritmo baseado em anel",
            "Algoritmo de Ricart and Agrawala",
            "Algoritmo de Maekawa",
            "Comparação dos algoritmos",
            "Eleição de líder",
            "Eleição em anel",
            "Eleição em anel: funcionamento do algoritmo",
            "Eleição em anel por torneio",
            "Algoritmo \"Bully\"",
            "Algoritmo \"Bully\": funcionamento do algoritmo",
            "Algoritmo do \"Luís\"",
            "Bully vs \"Luís\"",
            "Deteção de falhas",
            "Referências",
        ],
    ),
    (
        "Lección 11: Algoritmos distribuidos",
        &[
            "Introducción",
            "Modelo de sistema distribuido",
            "¿Parecidos/diferencias respecto a Linda?",
            "Algoritmo de Ricart-Agrawala (solicitud de turno)",
            "Posibles problemas",
            "Cuestiones",
            "Algoritmo de Ricart-Agrawala (paso de testigo)",
        ],
    ),
    (
        "SLOTS",
        &[
            "I. Introducción",
            "II. Antecedentes y trabajos relacionados",
            "III. Algoritmo distribuido de asignación de recursos: requerimientos",
            "III. Algoritmo distribuido de asignación de recursos: suposiciones",
            "III.A. Algoritmo simplificado",
            "III.B. Cambios de membresía y tolerante a fallos",
            "III.C. Optimizaciones",
            "IV. Implementación de SLOTS",
            "IV.A. Arquitectura implementada",
            "IV.B. Heurística utilizada",
            "V. Evaluación de rendimiento",
            "VI. Conclusiones y trabajos a futuro",
        ],
    ),
    (
        "Tema 3: Coordinación",
        &[
            "Tiempo Lógico: sincronización externa e interna",
            "Tiempo Lógico: requisitos y tipos de aplicaciones",
            "Método Cristian",
            "Relación de orden (ocurrió-antes)",
            "Relojes lógicos",
            "Algoritmos Distribuidos: modelos",
            "Exclusión Mutua",
            "Exclusión mutua con servidor centralizado",
            "Exclusión mutua con algoritmo distribuido basado en relojes lógicos",
            "Exclusión mutua con algoritmo basado en anillo",
            "Elección",
            "Elección con el algoritmo del valentón",
            "Elección con algoritmo basado en anillo",
            "Consenso",
            "Algoritmo general Consenso",
            "Consenso para problema de generales bizantinos",
        ],
    ),
];

pub(super) fn every_section_is_indexed(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(INDEX) else {
        return vec![Finding::new(INDEX, 1, "there is no such file", "write the index again")];
    };
    let missing = SECTIONS.iter().flat_map(|(document, sections)| {
        let rows = rows(text, document);
        sections.iter().filter(move |section| !has(&rows, section)).map(move |section| {
            let what = format!("{document}: \"{section}\" has no row with a link, or a code");
            Finding::new(INDEX, 1, what, "say where it is in Synod")
        })
    });
    missing.collect()
}

/// The rows of the table below the heading of a document.
fn rows<'a>(text: &'a str, document: &str) -> Vec<&'a str> {
    let heading = format!("## {document}");
    let below = text.lines().skip_while(|line| *line != heading).skip(1);
    below
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| "))
        .collect()
}

/// Whether a row names the section, and says where it is: by a link, or by a command.
fn has(rows: &[&str], section: &str) -> bool {
    let of = |row: &&&str| row.starts_with(&format!("| {section} |"));
    rows.iter().find(of).is_some_and(|row| {
        let place = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        place.contains("](") || place.contains('`')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_without_a_row_or_without_a_link_is_caught() {
        let table = |rows: &str| format!("## SLOTS\n\n| Section | In English | Here |\n{rows}");
        let text = table("| A | a | [x](y.md) |\n| B | b | nowhere |\n| C | c | `synod c` |\n");
        let rows = rows(&text, "SLOTS");
        assert_eq!(
            ["A", "B", "C", "D"].map(|section| has(&rows, section)),
            [true, false, true, false]
        );
    }

    #[test]
    fn without_the_index_something_is_found() {
        assert_eq!(every_section_is_indexed(&Tree::of(&[])).len(), 1);
        let all: usize = SECTIONS.iter().map(|(_, sections)| sections.len()).sum();
        assert_eq!(every_section_is_indexed(&Tree::of(&[(INDEX, "# Empty\n")])).len(), all);
    }
}
